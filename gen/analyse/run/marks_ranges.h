/* The ranges of a trace as candidates for its step: what marks.c chooses from. Inside gen/analyse/run only. */
#ifndef GAPLINE_ANALYSE_RUN_MARKS_RANGES_H
#define GAPLINE_ANALYSE_RUN_MARKS_RANGES_H

#include "analyse/run/fold.h"
#include "analyse/run/marks.h"
#include "analyse/run/marks_names.h"
#include "base/arena.h"

enum { MARKS_MIN_INSTANCES = 5, MARKS_MIN_LIKE = 2 };

/* Which of the ranges that fit goes before which others, the last one first. */
enum mark_grade {
	GRADE_PHASE,     /* a phase that gapline added while it recorded: where its step is there, too, it is none */
	GRADE_CONTAINER, /* holds several of another one that fits, and not always as many, or is called an epoch */
	GRADE_ADDED,     /* the step that gapline added: what the program marks is the step all the same */
	GRADE_PLAIN,
	GRADE_AROUND,  /* 2 to 4 instances, each around as many of a plain one */
	GRADE_STEP,    /* has the word step */
	GRADE_HOLDS,   /* holds exactly one that has the word, each time */
	GRADE_PROFILER /* PyTorch's ProfilerStep */
};

/* The instances of a (normalised name, domain) on one thread: ranges order[first .. first + n). */
struct marks_piece {
	uint32_t process, thread, name, domain;
	size_t first, n;
	int64_t total;
	bool overlap; /* some of them are open at the same time */
};

/* The instances of a (process, normalised name, domain): pieces [first, first + n). */
struct marks_range {
	size_t first, n;
	size_t instances;
	int64_t total;             /* the longest of a piece */
	struct marks_time stretch; /* launched from the first to the last */
	bool overlap, fits;
	uint8_t class; /* enum mark_name */
	uint8_t grade; /* enum mark_grade */
};

/* All ranges that may be steps. */
struct marks_ranges {
	const struct trace *trace;
	struct arena *arena;
	uint32_t *order;
	struct marks_piece *pieces;
	size_t n_pieces;
	struct marks_range *list;
	size_t n;
};

/* The candidates, one a process, normalised name and domain. `few`: also those that occur less often than a step has
 * to and have no name that says so. */
void marks_ranges_collect(struct marks_ranges *ranges, const struct fold *fold, bool few);

/* Which of them are steps by all rules (`fits`) but the one about the profile's GPU time, and their grade; `like`: of a
 * range that is the step of another run, two instances are enough, and a fifth of them that launch GPU work. Returns
 * the GPU time of the trace. */
struct marks_time marks_ranges_judge(struct marks_ranges *ranges, bool like);

/* By name and domain. */
static inline uint64_t marks_ranges_key(const struct marks_ranges *x, const struct marks_range *c)
{
	const struct marks_piece *p = &x->pieces[c->first];
	return (uint64_t)p->name << 32 | p->domain;
}

#endif
