/* Fuzz target: any bytes as a spool, converted and read. Whatever a program left in its spool, the outcome is a sound
 * profile or an error. The bytes stand for two programs under one PID, so that what one leaves behind meets the other.
 */
#include "capture/convert.h"
#include "read/read.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char *const NAMES[] = {"1-cuda-0.spool", "1-cuda-1.spool", "out.sqlite"};
static char folder[] = "/dev/shm/gapline-fuzz-XXXXXX";
static int fd = -1; /* of the folder */

static void remove_all(void)
{
	for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
		unlinkat(fd, NAMES[i], 0);
	rmdir(folder);
}

static void write_file(const char *name, const uint8_t *data, size_t n)
{
	int file = openat(fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (file < 0 || write(file, data, n) != (ssize_t)n || close(file) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (fd < 0) {
		if (!mkdtemp(folder)) /* in memory: nothing waits for a disk */
			abort();
		fd = open(folder, O_RDONLY | O_DIRECTORY);
		atexit(remove_all);
	}
	write_file(NAMES[0], data, n);
	write_file(NAMES[1], data, n);
	struct arena arena = {0};
	const char *profile = arena_format(&arena, "%s/%s", folder, NAMES[2]);
	const struct convert_request request = {.spool = folder,
	                                        .profile = profile,
	                                        .start_ns = 1000,
	                                        .start_utc_ns = 1,
	                                        .stop_ns = 2000,
	                                        .version = "0"};
	struct convert_result result;
	struct err err = {0};
	if (convert_spool(&request, &arena, &result, &err) != 0) {
		if (!err.text[0])
			abort();
	} else {
		struct names names;
		struct trace trace;
		names_init(&names, &arena);
		/* What we write is never damaged, whatever it was made of; it may hold nothing that ran on a GPU. */
		if (read_profile(profile, &names, &arena, &trace, &err) != 0 &&
		    !strstr(err.text, "holds no GPU work") && !strstr(err.text, "devices, which no profile has")) {
			fprintf(stderr, "%s\n", err.text);
			abort();
		}
	}
	arena_release(&arena);
	return 0;
}
