/* A program of one thread and one device for tests of loops: whatever it launches runs after what came before. */
#ifndef GAPLINE_TESTS_LOOP_PROGRAM_H
#define GAPLINE_TESTS_LOOP_PROGRAM_H

#include "run/run.h"
#include "trace_maker.h"

enum { MS = 1000000 };

struct loop_program {
	struct arena arena;
	struct names names;
	struct maker m;
	uint32_t thread, gpu, correlation;
	int64_t now; /* ns */
};

void loop_program_init(struct loop_program *p);

/* A kernel that takes `length` ns, launched when the one before it has ended; without its call where not `launched`. */
void loop_program_kernel(struct loop_program *p, const char *name, int64_t length, bool launched);

/* Finds its loops and steps. */
void loop_program_find(struct loop_program *p, struct run *run);

#endif
