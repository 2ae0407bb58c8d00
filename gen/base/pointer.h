/* Pointers of Git LFS: small texts that stand for files which were not fetched
 * (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md). Whatever takes a file may be given one. */
#ifndef GAPLINE_BASE_POINTER_H
#define GAPLINE_BASE_POINTER_H

#include "base/file.h"

#include <stdbool.h>

bool pointer_is(const struct file_head *head);

/* "PATH: INSIDE a pointer of Git LFS …", with the command that fetches the file; `inside`: "is ", or what it is packed
 * in. Returns -1. */
int pointer_refuse(const char *path, const char *inside, struct err *err);

#endif
