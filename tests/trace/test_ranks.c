/* Ranks and repeats told apart: cases written down by hand. */
#include "said.h"
#include "trace/files.h"
#include "trace_maker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int64_t SECOND = 1000000000;

/* A file as a case gives it. */
struct given {
	const char *name;
	int64_t started, length; /* s; started < 0: not known */
	uint64_t job;
	int32_t rank, ranks; /* -1: not known */
	uint32_t folder;     /* 0: none */
	const char *program;
	uint32_t run; /* what is right */
};

struct told {
	struct arena arena;
	struct names names;
	struct ranks ranks;
	struct ranks_file file[8];
};

static void tell(struct told *t, const struct given *given, size_t n, enum ranks_asked asked)
{
	*t = (struct told){0};
	names_init(&t->names, &t->arena);
	for (size_t i = 0; i < n; i++) {
		struct maker m;
		const struct given *g = &given[i];
		maker_init(&m, &t->arena, &t->names);
		uint32_t process = maker_process(&m, 100 + (int64_t)(n - i)),
			 gpu = maker_device(&m, process, 0, TRACE_NONE);
		m.trace->processes[process].name = names_add_text(&t->names, g->program ? g->program : "prog");
		maker_op(&m, gpu, 7, OP_KERNEL, SECOND, SECOND + g->length * SECOND, "k", 0);
		maker_link(&m);
		m.trace->source.started = g->started < 0 ? TRACE_NO_TIME : g->started * SECOND;
		m.trace->source.job = g->job;
		m.trace->source.rank = g->rank;
		m.trace->source.ranks = g->ranks;
		t->file[i] = (struct ranks_file){
			.trace = m.trace, .name = g->name, .folder = g->folder ? g->folder : TRACE_NONE};
	}
	t->ranks = ranks_tell(t->file, n, asked, &t->arena);
	for (size_t i = 0; i < n; i++)
		if (t->file[i].run != given[i].run)
			fail_msg("%s: run %u, not %u (%s)", given[i].name, t->file[i].run, given[i].run,
			         said(t->ranks.why, NULL));
}

#define N(list) (sizeof(list) / sizeof *(list))

static void times_that_do_not_overlap_are_repeats(void **state)
{
	(void)state;
	struct told t;
	static const struct given files[] = {{"a", 100, 40, 0, -1, -1, 0, NULL, 0},
	                                     {"b", 150, 40, 0, -1, -1, 0, NULL, 1},
	                                     {"rank0", 200, 40, 0, 0, 2, 0, NULL, 2},
	                                     {"rank1", 250, 40, 0, 1, 2, 0, NULL, 3}};
	tell(&t, files, N(files), RANKS_TELL);
	assert_false(t.ranks.careful);
	assert_null(t.ranks.note);
	assert_non_null(strstr(said(t.ranks.why, NULL), "repeats"));
	arena_release(&t.arena);
}

static void overlapping_times_are_ranks_also_through_others(void **state)
{
	(void)state;
	struct told t;
	/* a with b, b with c, but not a with c; d later, alone */
	static const struct given files[] = {{"a", 100, 40, 0, -1, -1, 0, NULL, 0},
	                                     {"c", 170, 40, 0, -1, -1, 0, NULL, 0},
	                                     {"b", 135, 40, 0, -1, -1, 0, NULL, 0},
	                                     {"d", 300, 40, 0, -1, -1, 0, NULL, 1}};
	tell(&t, files, N(files), RANKS_TELL);
	assert_int_equal(t.ranks.n_runs, 2);
	assert_false(t.ranks.careful); /* one program */
	assert_non_null(strstr(said(t.ranks.note, NULL), "--files-are repeats"));
	/* by process id, which counts down here: b, c, a */
	assert_int_equal(t.file[2].place, 0);
	assert_int_equal(t.file[1].place, 1);
	assert_int_equal(t.file[0].place, 2);
	assert_true(t.file[0].offset == 0 && t.file[1].offset == 70 * SECOND && t.file[2].offset == 35 * SECOND);
	assert_true(t.file[3].offset == 0);
	arena_release(&t.arena);
}

static void nothing_in_common_is_the_careful_guess(void **state)
{
	(void)state;
	struct told t;
	static const struct given files[] = {{"a", 100, 40, 0, -1, -1, 0, "x", 0},
	                                     {"b", 110, 40, 0, -1, -1, 0, "y", 0}};
	tell(&t, files, N(files), RANKS_TELL);
	assert_true(t.ranks.careful);
	assert_non_null(strstr(said(t.ranks.note, NULL), "--files-are"));
	arena_release(&t.arena);
	struct given repeats[2] = {files[0], files[1]};
	repeats[1].run = 1;
	tell(&t, repeats, 2, RANKS_ARE_REPEATS);
	assert_false(t.ranks.careful);
	arena_release(&t.arena);
}

static void jobs_side_by_side_are_repeats(void **state)
{
	(void)state;
	struct told t;
	static const struct given files[] = {{"a", 100, 40, 7, 0, 2, 0, NULL, 0},
	                                     {"b", 101, 40, 8, 0, 2, 0, NULL, 1},
	                                     {"c", 102, 40, 7, 1, 2, 0, NULL, 0},
	                                     {"d", 103, 40, 8, 1, 2, 0, NULL, 1}};
	tell(&t, files, N(files), RANKS_TELL);
	assert_int_equal(t.ranks.n_runs, 2);
	assert_false(t.ranks.careful);
	arena_release(&t.arena);
	static const struct given array[] = {{"a", 100, 40, 7, 0, 1, 0, NULL, 0}, {"b", 101, 40, 8, 0, 1, 0, NULL, 1}};
	tell(&t, array, N(array), RANKS_TELL);
	assert_non_null(strstr(said(t.ranks.why, NULL), "different jobs"));
	arena_release(&t.arena);
}

/* Tasks of an array at the same time, whose profiles know no job: two files of one rank are of two runs. */
static void folders_with_the_same_ranks_are_runs(void **state)
{
	(void)state;
	struct told t;
	static const struct given files[] = {{"rank-0", 100, 40, 0, 0, -1, 1, NULL, 0},
	                                     {"rank-1", 101, 40, 0, 1, -1, 1, NULL, 0},
	                                     {"rank-0", 102, 40, 0, 0, -1, 2, NULL, 1},
	                                     {"rank-1", 103, 40, 0, 1, -1, 2, NULL, 1}};
	tell(&t, files, N(files), RANKS_TELL);
	assert_int_equal(t.ranks.n_runs, 2);
	assert_false(t.ranks.careful);
	assert_non_null(strstr(said(t.ranks.note, NULL), "folders hold the same ranks"));
	assert_false(t.file[0].named);
	arena_release(&t.arena);
	/* a rank in each folder: repeats */
	static const struct given alone[] = {{"rank-0", 100, 40, 0, 0, -1, 1, NULL, 0},
	                                     {"rank-0", 101, 40, 0, 0, -1, 2, NULL, 1}};
	tell(&t, alone, N(alone), RANKS_TELL);
	assert_int_equal(t.ranks.n_runs, 2);
	arena_release(&t.arena);
	/* folders of nodes, whose files are called alike: their names alone prove nothing */
	static const struct given nodes[] = {{"gpu-0", 100, 40, 0, -1, -1, 1, NULL, 0},
	                                     {"gpu-1", 101, 40, 0, -1, -1, 1, NULL, 0},
	                                     {"gpu-0", 102, 40, 0, -1, -1, 2, NULL, 0},
	                                     {"gpu-1", 103, 40, 0, -1, -1, 2, NULL, 0}};
	tell(&t, nodes, N(nodes), RANKS_TELL);
	assert_int_equal(t.ranks.n_runs, 1);
	assert_true(t.file[0].named);
	arena_release(&t.arena);
	/* one rank twice in a folder: folders are no runs */
	static const struct given mixed[] = {{"a", 100, 40, 0, 0, -1, 1, NULL, 0},
	                                     {"b", 101, 40, 0, 0, -1, 1, NULL, 0},
	                                     {"c", 102, 40, 0, 0, -1, 2, NULL, 0}};
	tell(&t, mixed, N(mixed), RANKS_TELL);
	assert_int_equal(t.ranks.n_runs, 1);
	arena_release(&t.arena);
}

static void ranks_stand_in_their_order_and_lack_is_said(void **state)
{
	(void)state;
	struct told t;
	static const struct given files[] = {{"x-rank-3.sqlite", 100, 40, 0, -1, -1, 0, NULL, 0},
	                                     {"x-rank-0.sqlite", 100, 40, 0, -1, -1, 0, NULL, 0},
	                                     {"x-rank-1.sqlite", 100, 40, 0, -1, -1, 0, NULL, 0}};
	tell(&t, files, N(files), RANKS_TELL);
	assert_int_equal(t.file[0].rank, 3);
	assert_int_equal(t.file[0].place, 2);
	assert_int_equal(t.file[1].place, 0);
	assert_non_null(strstr(said(t.ranks.note, NULL), "rank 2 of 4 is not among the files"));
	arena_release(&t.arena);
	static const struct given of_eight[] = {{"a", 100, 40, 7, 1, 8, 0, NULL, 0},
	                                        {"b", 100, 40, 7, 0, 8, 0, NULL, 0}};
	tell(&t, of_eight, N(of_eight), RANKS_TELL);
	assert_non_null(strstr(said(t.ranks.note, NULL), "ranks 2, 3, 4, 5, 6, 7 of 8 are not among the files"));
	arena_release(&t.arena);
	static const struct given many[] = {{"x-rank-10.sqlite", 100, 40, 0, -1, -1, 0, NULL, 0},
	                                    {"x-rank-00123.sqlite", 100, 40, 0, -1, -1, 0, NULL, 0},
	                                    {"x-rank-9.sqlite", 100, 40, 0, -1, -1, 0, NULL, 0}};
	tell(&t, many, N(many), RANKS_TELL);
	assert_true(t.file[0].rank == 10 && t.file[1].rank == 123 && t.file[2].rank == 9);
	arena_release(&t.arena);
	static const struct given restarted[] = {{"a", 100, 40, 7, 0, 2, 0, NULL, 0},
	                                         {"b", 100, 100, 7, 1, 2, 0, NULL, 0},
	                                         {"c", 150, 50, 7, 0, 2, 0, NULL, 0}};
	tell(&t, restarted, N(restarted), RANKS_TELL);
	assert_non_null(strstr(said(t.ranks.note, NULL), "more than one file says that it is rank 0"));
	arena_release(&t.arena);
}

/* Files of another job, in the same folder: they are a run of their own, and that is said. */
static void runs_of_other_numbers_of_files_are_said(void **state)
{
	(void)state;
	static const struct given files[] = {{"a", 100, 10, 7, 0, 3, 1, NULL, 0},
	                                     {"b", 101, 10, 7, 1, 3, 1, NULL, 0},
	                                     {"c", 102, 10, 7, 2, 3, 1, NULL, 0},
	                                     {"x", 102, 10, 8, 0, 2, 1, NULL, 1},
	                                     {"y", 102, 10, 8, 1, 2, 1, NULL, 1}};
	struct told t;
	tell(&t, files, N(files), RANKS_TELL);
	assert_non_null(strstr(said(t.ranks.note, NULL),
	                       "one of the runs has 2 files (x …) where another has 3, so leave them out"));
	arena_release(&t.arena);
	tell(&t, files, 3, RANKS_TELL);
	assert_null(strstr(said(t.ranks.note, NULL), "one of the runs"));
	arena_release(&t.arena);
}

static void without_times_names_folders_and_jobs_decide(void **state)
{
	(void)state;
	struct told t;
	static const struct given named[] = {{"one-rank0.db", -1, 40, 0, -1, -1, 0, NULL, 0},
	                                     {"one-rank1.db", -1, 40, 0, -1, -1, 0, NULL, 0},
	                                     {"two-rank0.db", -1, 40, 0, -1, -1, 0, NULL, 1},
	                                     {"two-rank1.db", -1, 40, 0, -1, -1, 0, NULL, 1}};
	tell(&t, named, N(named), RANKS_TELL);
	assert_false(t.ranks.careful);
	arena_release(&t.arena);
	static const struct given runs[] = {{"run-1.db", -1, 40, 0, -1, -1, 0, NULL, 0},
	                                    {"run-2.db", 100, 40, 0, -1, -1, 0, NULL, 1}};
	tell(&t, runs, N(runs), RANKS_TELL);
	assert_false(t.ranks.careful);
	arena_release(&t.arena);
	static const struct given folders[] = {{"a", -1, 40, 0, -1, -1, 1, NULL, 0},
	                                       {"b", -1, 40, 0, -1, -1, 1, NULL, 0},
	                                       {"c", -1, 40, 0, -1, -1, 2, NULL, 1}};
	tell(&t, folders, N(folders), RANKS_TELL);
	assert_false(t.ranks.careful);
	arena_release(&t.arena);
	static const struct given jobs[] = {{"a", -1, 40, 5, -1, -1, 0, NULL, 0},
	                                    {"b", -1, 40, 6, -1, -1, 0, NULL, 1},
	                                    {"c", -1, 40, 5, -1, -1, 0, NULL, 0}};
	tell(&t, jobs, N(jobs), RANKS_TELL);
	assert_false(t.ranks.careful);
	arena_release(&t.arena);
	static const struct given dark[] = {{"a", -1, 40, 0, -1, -1, 0, NULL, 0},
	                                    {"b", 100, 40, 0, -1, -1, 0, NULL, 0}};
	tell(&t, dark, N(dark), RANKS_TELL);
	assert_true(t.ranks.careful);
	arena_release(&t.arena);
}

static void asked_for_ranks_folders_and_times_still_part_runs(void **state)
{
	(void)state;
	struct told t;
	static const struct given times[] = {{"a", 100, 40, 0, -1, -1, 0, NULL, 0},
	                                     {"b", 110, 40, 0, -1, -1, 0, NULL, 0},
	                                     {"c", 500, 40, 0, -1, -1, 0, NULL, 1}};
	tell(&t, times, N(times), RANKS_ARE_RANKS);
	arena_release(&t.arena);
	static const struct given apart[] = {{"a", 100, 40, 0, -1, -1, 0, NULL, 0},
	                                     {"b", 500, 40, 0, -1, -1, 0, NULL, 0}};
	tell(&t, apart, N(apart), RANKS_ARE_RANKS);
	arena_release(&t.arena);
	static const struct given folders[] = {{"a", -1, 40, 0, -1, -1, 1, NULL, 0},
	                                       {"b", -1, 40, 0, -1, -1, 1, NULL, 0},
	                                       {"c", -1, 40, 0, -1, -1, 2, NULL, 1}};
	tell(&t, folders, N(folders), RANKS_ARE_RANKS);
	arena_release(&t.arena);
}

static void one_file_is_a_run(void **state)
{
	(void)state;
	struct told t;
	static const struct given one[] = {{"rank-5", -1, 40, 0, -1, -1, 0, NULL, 0}};
	tell(&t, one, 1, RANKS_TELL);
	assert_null(t.ranks.note);
	assert_null(t.ranks.why);
	arena_release(&t.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_that_do_not_overlap_are_repeats),
		cmocka_unit_test(overlapping_times_are_ranks_also_through_others),
		cmocka_unit_test(folders_with_the_same_ranks_are_runs),
		cmocka_unit_test(nothing_in_common_is_the_careful_guess),
		cmocka_unit_test(jobs_side_by_side_are_repeats),
		cmocka_unit_test(ranks_stand_in_their_order_and_lack_is_said),
		cmocka_unit_test(runs_of_other_numbers_of_files_are_said),
		cmocka_unit_test(without_times_names_folders_and_jobs_decide),
		cmocka_unit_test(asked_for_ranks_folders_and_times_still_part_runs),
		cmocka_unit_test(one_file_is_a_run),
	};
	return cmocka_run_group_tests_name("ranks", tests, NULL, NULL);
}
