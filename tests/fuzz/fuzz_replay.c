/* Runs a fuzz target once on every file named, with any compiler: a corpus as a regression test.
 *
 *	fuzz_TARGET [-mutate=TIMES] FILE ...
 *
 * With -mutate a target that has a mutator of its own (mutate.h) also runs on what that makes of each file, TIMES
 * times, each from the one before or from the file again: the same on every machine. */
#include "mutate.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#pragma weak LLVMFuzzerCustomMutator

enum { ROOM = 1 << 20, AGAIN = 12 }; /* as much as a mutator may make; how far it goes from a file */

struct bytes {
	uint8_t *data;
	size_t n, room;
};

static void make_room(struct bytes *bytes, size_t room)
{
	bytes->data = realloc(bytes->data, room);
	bytes->room = room;
	if (!bytes->data)
		abort();
}

static void read_all(struct bytes *bytes, const char *path)
{
	FILE *file = fopen(path, "rb");
	while (file && !feof(file) && !ferror(file)) {
		if (bytes->n == bytes->room)
			make_room(bytes, bytes->room ? 2 * bytes->room : 65536);
		bytes->n += fread(bytes->data + bytes->n, 1, bytes->room - bytes->n, file);
	}
	if (!file || ferror(file)) {
		perror(path);
		exit(2);
	}
	fclose(file);
}

/* In memory of exactly its size, so that a sanitizer sees what reads beyond. */
static void run(const uint8_t *data, size_t n)
{
	uint8_t *exact = malloc(n ? n : 1);
	if (!exact)
		abort();
	memcpy(exact, data, n);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
}

static void replay(const char *path, long times)
{
	struct bytes file = {0}, made = {0};
	read_all(&file, path);
	run(file.data, file.n);
	if (file.n > ROOM)
		times = 0;
	for (long i = 0; i < times && LLVMFuzzerCustomMutator; i++) {
		if (i % AGAIN == 0) {
			if (!made.room)
				make_room(&made, ROOM);
			memcpy(made.data, file.data, file.n);
			made.n = file.n;
		}
		made.n = LLVMFuzzerCustomMutator(made.data, made.n, ROOM, (unsigned)i);
		fprintf(stderr, "%s, mutation %ld\n", path, i);
		run(made.data, made.n);
	}
	free(file.data);
	free(made.data);
}

int main(int argc, char **argv)
{
	static const char mutate[] = "-mutate=";
	int first = argc > 1 && !strncmp(argv[1], mutate, sizeof mutate - 1) ? 2 : 1;
	long times = first == 2 ? strtol(argv[1] + sizeof mutate - 1, NULL, 10) : 0;
	for (int i = first; i < argc; i++) {
		fprintf(stderr, "%s\n", argv[i]); /* the last one printed is the one that crashed */
		replay(argv[i], times);
	}
	printf("%d files\n", argc - first);
	return argc <= first;
}
