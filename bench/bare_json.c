/* yajl alone on a file, in the pieces that the reader takes: what a trace of the PyTorch profiler is measured beside.
 */
#include <stdio.h>
#include <stdlib.h>
#include <yajl/yajl_parse.h>

static int on_text(void *context, const unsigned char *text, size_t n)
{
	(void)text;
	*(size_t *)context += n;
	return 1;
}

static int on_number(void *context, const char *text, size_t n)
{
	return on_text(context, (const unsigned char *)text, n);
}

int main(int argc, char **argv)
{
	enum { CHUNK = 256 * 1024 };
	static const yajl_callbacks callbacks = {
		.yajl_number = on_number, .yajl_string = on_text, .yajl_map_key = on_text};
	size_t seen = 0, n;
	unsigned char *data = malloc(CHUNK);
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
	yajl_handle json = yajl_alloc(&callbacks, NULL, &seen);
	if (!data || !file || !json)
		return 2;
	yajl_config(json, yajl_dont_validate_strings, 1);
	while ((n = fread(data, 1, CHUNK, file)) > 0)
		if (yajl_parse(json, data, n) != yajl_status_ok)
			return 1;
	if (yajl_complete_parse(json) != yajl_status_ok)
		return 1;
	printf("%zu bytes of texts and numbers\n", seen);
	yajl_free(json);
	fclose(file);
	free(data);
	return 0;
}
