/* Runs a fuzz target once on every file named, with any compiler: a corpus as a regression test. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void replay(const char *path)
{
	uint8_t *data = NULL;
	size_t n = 0, room = 0;
	FILE *file = fopen(path, "rb");
	while (file && !feof(file) && !ferror(file)) {
		if (n == room) {
			room = room ? 2 * room : 65536;
			data = realloc(data, room);
			if (!data)
				abort();
		}
		n += fread(data + n, 1, room - n, file);
	}
	if (!file || ferror(file)) {
		perror(path);
		exit(2);
	}
	fclose(file);
	LLVMFuzzerTestOneInput(data, n);
	free(data);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		fprintf(stderr, "%s\n", argv[i]); /* the last one printed is the one that crashed */
		replay(argv[i]);
	}
	printf("%d files\n", argc - 1);
	return argc < 2;
}
