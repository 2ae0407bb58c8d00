/* What the name of a range says about whether its instances are steps (DESIGN's order: named, marked, range). */
#ifndef GAPLINE_ANALYSE_RUN_MARKS_NAMES_H
#define GAPLINE_ANALYSE_RUN_MARKS_NAMES_H

#include <stdbool.h>

enum mark_name {
	MARK_NEVER,     /* a Python frame, an operator, an autograd node, a library's range: no step, however often */
	MARK_CONTAINER, /* holds steps by its name: an epoch, main, a benchmark */
	MARK_PLAIN,     /* says nothing */
	MARK_STEP,      /* has the word step, iter or iteration: a step, however few there are */
	MARK_PROFILER   /* PyTorch's ProfilerStep#N: a step, whatever it holds */
};

/* Whether its last word is one that programs count (step, iter, iteration, batch, request, token), and none says that
 * it is a part of a step. */
bool marks_name_counts(const char *name);

/* `name`: normalised or as written; `domain`: that of the range, "" where it has none. */
enum mark_name marks_name_class(const char *name, const char *domain);

#endif
