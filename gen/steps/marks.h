/* NVTX ranges as marks of steps: the first to propose a loop (run_find_steps). */
#ifndef GAPLINE_STEPS_MARKS_H
#define GAPLINE_STEPS_MARKS_H

#include "base/arena.h"
#include "steps/fold.h"
#include "steps/steps.h"

#include <stdbool.h>

/* What the name of a range says about whether its instances are steps (DESIGN's order: named, marked, range). */

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

/* Who marked steps that such ranges are. */
enum step_origin marks_origin(const char *name, const char *domain);

/* A range is a step whose name and domain are, in some process, those of at least 5 instances, at least 80 % of which
 * launch GPU work, such that at least 70 % of the GPU time that the process launches from the first to the last was
 * launched, by any thread, while one was open, and that, added up over the processes that have such a range, what is
 * launched from the first to the last is at least half of the GPU time of the profile, with communication or without:
 * a rank may wait in its first collective longer than it works. A range in which the capture ended counts for none of
 * that, if another one is whole. The one with the longest total
 * on one thread wins, names whose instances do not overlap on any thread before others. GPU time is the lengths of ops,
 * added up.
 *
 * On several threads of a process only those count that launch GPU work themselves in at least half of their instances;
 * if none does, the one with the longest total. Push/pop ranges inside one of the same name count with the outermost.
 *
 * Each part of a run (parts.h) says which of its ranges are steps by all of these rules but the half of the GPU time,
 * which is that of all parts, and what ranges hold of each other. */
struct marks_time {
	double all, work; /* GPU time, of all ops, and of all but communication */
};
struct marks_candidate {
	uint32_t name, domain, written; /* as in struct step_marks */
	int64_t total;                  /* the longest on one thread */
	struct marks_time stretch;      /* launched from the first to the last */
	bool overlap;
	uint8_t class;             /* enum mark_name */
	uint8_t of_name;           /* enum mark_grade (marks_ranges.c), by its name and how often it occurs */
	struct instance *instance; /* n of them, by thread and start; process and thread as the part counts them */
	uint32_t n;
	/* As marks_choose judged it last: */
	bool half; /* with those of its name it is half of the GPU time */
	bool fits;
	uint8_t grade; /* enum mark_grade */
};
struct marks_part {
	struct marks_time whole; /* 0: what ranges are of it is not asked */
	bool added;              /* one of its ranges is a step that gapline added */
	struct marks_candidate *list;
	size_t n;
	bool forgot; /* `instance` is NULL in all of them, after they were judged once: of ten thousand parts that is
	              * most of what would be kept */
};

/* What overrides the rules, if it is not NULL: `wanted`, --step NAME, is a range's name, normalised or as written;
 * `like` are the steps of another run. Their range has to be one by all rules but the half of the profile's GPU time,
 * which it holds in the other run, with two instances or more, of which a fifth launch GPU work: a fix may make the
 * steps so much shorter that they are less than the program's start-up, or leave work out, and one run may have ended
 * early. Before run_name_steps of either run. */
struct marks_asked {
	const char *wanted;
	const struct steps *like;
};

void marks_of_part(const struct trace *trace, const struct fold *fold, const struct marks_asked *asked,
                   struct arena *arena, struct marks_part *out);

/* The range that is the step of these parts together; NULL: none. Judges all candidates by what they are together.
 * `again` fills the instances of part i, which were forgotten, for a moment, in `arena`: asked of those alone of which
 * other ranges are half of the GPU time than when they were judged before. NULL: nothing was forgotten. */
typedef void marks_again(void *context, size_t i, struct marks_part *part, struct arena *arena);
const struct marks_candidate *marks_choose(struct marks_part *parts, size_t n, const struct names *names,
                                           marks_again *again, void *context);

/* Forgets the instances of a part that was judged: what is kept of it lives in `arena`. */
struct marks_part marks_forget(const struct marks_part *part, struct arena *arena);

/* Ranges that may have been meant where none has the name that is wanted. Zero-initialise; parts add theirs, in order.
 */
struct marks_offers {
	struct marks_offer *list;
	size_t n;
	struct marks_time whole;
};
void marks_offer(const struct trace *trace, const struct fold *fold, struct arena *arena, struct marks_offers *to);

/* Says in `err` that there is no such range as `option` names, and which there are. Returns -1. */
int marks_no_such(const struct trace *trace, struct marks_offers *have, const char *option, const char *wanted,
                  struct err *err);

/* The ranges of a trace as candidates for its step: what marks.c chooses from. Inside gen/steps only. */

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

/* Which ranges that fit as steps hold which others of them: a container, or what lies around steps. */

/* Lowers and raises the grades of those of a part that fit by what they hold of each other, and drops those that fit
 * only around others and are not. */
void marks_nest(struct marks_part *part);

#endif
