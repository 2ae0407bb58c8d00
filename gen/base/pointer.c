#include "base/pointer.h"

#include "base/buf.h"

#include <string.h>

bool pointer_is(const struct file_head *head)
{
	static const char begin[] = "version https://git-lfs.github.com/spec/";
	return head->n >= sizeof begin - 1 && memcmp(head->data, begin, sizeof begin - 1) == 0;
}

/* The pattern that fetches this file alone holds from any folder. A character that would be one of a pattern's own is
 * left open. */
int pointer_refuse(const char *path, const char *inside, struct err *err)
{
	struct buf name = {0}, command = {0};
	const char *file = file_name(path);
	for (const char *c = file; *c; c++)
		buf_add(&name, strchr("*?[]{}!\\,#", *c) ? "?" : c, 1);
	buf_text(&command, "git ");
	if (file != path) {
		struct buf folder = {0};
		buf_add(&folder, path, (size_t)(file - path));
		buf_text(&command, "-C ");
		buf_word(&command, folder.data, "");
		buf_text(&command, " ");
		buf_release(&folder);
	}
	buf_text(&command, "lfs pull --include ");
	buf_quoted(&command, name.data);
	err_set(err, "%s: %sa pointer of Git LFS, which stands for the file that was not fetched; fetch it with: %s",
	        path, inside, command.data);
	buf_release(&command);
	buf_release(&name);
	return -1;
}
