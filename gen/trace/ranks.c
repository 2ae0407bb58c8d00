#include "trace/files.h"

#include "base/sort.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what a file says of itself ---- */

static const char *const RANK_WORDS[] = {"rank", "proc", "worker", "node", "gpu", "host", NULL};
static const char *const REPEAT_WORDS[] = {"run", "rep", "repeat", "repetition", "trial", "try", "take", NULL};

/* The number behind one of the words in a file's name, "rank3", "rank-3", "rank_03"; -1: there is none. `at` and `n`
 * say where its digits stand. */
static int32_t number_after(const char *name, const char *const *words, size_t *at, size_t *n)
{
	for (size_t i = 0; name[i]; i++)
		for (size_t w = 0; words[w]; w++) {
			size_t length = strlen(words[w]), digits = i + length;
			if ((i && isalpha((unsigned char)name[i - 1])) || strncasecmp(name + i, words[w], length) != 0)
				continue;
			digits += name[digits] && strchr("-_.= ", name[digits]) ? 1 : 0;
			*at = digits;
			*n = strspn(name + digits, "0123456789");
			if (*n > 0 && *n < 8)
				return atoi(name + digits);
		}
	return -1;
}

/* Whether two names are the same but for the number behind one of the words. */
static bool differ_in(const char *a, const char *b, const char *const *words)
{
	size_t at[2], n[2];
	if (number_after(a, words, &at[0], &n[0]) < 0 || number_after(b, words, &at[1], &n[1]) < 0)
		return false;
	return at[0] == at[1] && memcmp(a, b, at[0]) == 0 && strcmp(a + at[0] + n[0], b + at[1] + n[1]) == 0;
}

/* The process whose GPU work the file holds, if it is one. */
static const struct trace_process *main_process(const struct trace *t)
{
	uint32_t process = t->n_devices ? t->devices[0].process : TRACE_NONE;
	for (uint32_t d = 0; d < t->n_devices; d++)
		if (t->devices[d].process != process)
			return NULL;
	return process == TRACE_NONE ? NULL : &t->processes[process];
}

static int32_t rank_of(const struct ranks_file *f)
{
	const struct trace_process *process = main_process(f->trace);
	size_t at, n;
	if (process && process->rank >= 0)
		return process->rank;
	if (f->trace->source.rank >= 0)
		return f->trace->source.rank;
	return process ? number_after(f->name, RANK_WORDS, &at, &n) : -1;
}

/* Whether nothing but its name tells a file's rank: "gpu0" may be there once a node. */
static bool is_named(const struct ranks_file *f)
{
	const struct trace_process *process = main_process(f->trace);
	return f->rank >= 0 && !(process && process->rank >= 0) && f->trace->source.rank < 0;
}

static bool has_time(const struct ranks_file *f)
{
	return f->trace->source.started != TRACE_NO_TIME && f->trace->last_time > f->trace->first_time;
}

static bool overlap(const struct trace *a, const struct trace *b)
{
	return a->source.started + a->first_time < b->source.started + b->last_time &&
	       b->source.started + b->first_time < a->source.started + a->last_time;
}

static bool other_job(const struct trace *a, const struct trace *b)
{
	return a->source.job && b->source.job && a->source.job != b->source.job;
}

static bool same_program(const struct trace *a, const struct trace *b)
{
	const struct trace_process *x = main_process(a), *y = main_process(b);
	return x && y && x->name && x->name == y->name;
}

/* ---- runs ---- */

/* What tells that two files are of one run. */
typedef bool together(const struct ranks_file *a, const struct ranks_file *b);

static bool of_overlapping_times(const struct ranks_file *a, const struct ranks_file *b)
{
	return overlap(a->trace, b->trace) && !other_job(a->trace, b->trace);
}
static bool of_one_folder(const struct ranks_file *a, const struct ranks_file *b)
{
	return a->folder == b->folder;
}
static bool of_one_folder_and_times(const struct ranks_file *a, const struct ranks_file *b)
{
	return of_one_folder(a, b) && of_overlapping_times(a, b);
}
static bool of_one_job(const struct ranks_file *a, const struct ranks_file *b)
{
	return a->trace->source.job == b->trace->source.job;
}
static bool of_one_name(const struct ranks_file *a, const struct ranks_file *b)
{
	return differ_in(a->name, b->name, RANK_WORDS);
}
static bool always(const struct ranks_file *a, const struct ranks_file *b)
{
	(void)a;
	(void)b;
	return true;
}
static bool never(const struct ranks_file *a, const struct ranks_file *b)
{
	(void)a;
	(void)b;
	return false;
}

/* Connected components, numbered by their first file; returns how many. */
static uint32_t connect(struct ranks_file *files, size_t n, together *are, struct arena *arena)
{
	uint32_t runs = 0;
	for (size_t i = 0; i < n; i++)
		files[i].run = (uint32_t)i;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			uint32_t from = files[i].run, to = files[k].run;
			if (from == to || !are(&files[i], &files[k]))
				continue;
			files[i].run = to; /* and where others are of its component, they are, too */
			for (size_t j = 0; j < n && from != i; j++)
				if (files[j].run == from || files[j].run == to)
					files[j].run = from < to ? from : to;
		}
	/* A component has the number of its first file: count those. */
	uint32_t *number = ARENA_NEW(arena, n, uint32_t);
	for (size_t i = 0; i < n; i++) {
		if (files[i].run == i)
			number[i] = runs++;
		files[i].run = number[files[i].run];
	}
	return runs;
}

static bool share_job(const struct ranks_file *a, const struct ranks_file *b)
{
	return a->trace->source.job && a->trace->source.job == b->trace->source.job;
}
static bool share_program(const struct ranks_file *a, const struct ranks_file *b)
{
	return same_program(a->trace, b->trace);
}

/* Whether all files of a run have this in common, in all runs: what two share with a third, they share. */
static bool all_share(const struct ranks_file *files, size_t n, together *are)
{
	ARENA_LOCAL(scratch);
	size_t *first = ARENA_NEW(&scratch, n, size_t); /* by run, counted from 1 */
	bool all = true;
	for (size_t i = 0; i < n && all; i++) {
		size_t *of = &first[files[i].run];
		all = !*of || are(&files[i], &files[*of - 1]);
		*of = *of ? *of : i + 1;
	}
	return all;
}

/* Whether the files of each run of several have different ranks. */
static bool ranks_differ(const struct ranks_file *files, size_t n)
{
	ARENA_LOCAL(scratch);
	uint64_t *key = ARENA_NEW(&scratch, n, uint64_t); /* those without a rank come last in their run */
	bool differ = true;
	for (size_t i = 0; i < n; i++)
		key[i] = (uint64_t)files[i].run << 32 | (uint32_t)files[i].rank;
	sort_hashes(key, n);
	for (size_t i = 1; i < n && differ; i++)
		differ = key[i] >> 32 != key[i - 1] >> 32 || (key[i] != key[i - 1] && (int32_t)key[i] >= 0);
	return differ;
}

/* Whether two files are like that, or where it is not `wanted`, are not. */
static bool any_pair(const struct ranks_file *files, size_t n, together *are, bool wanted)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (are(&files[i], &files[k]) == wanted)
				return true;
	return false;
}

static bool of_one_repeat_name(const struct ranks_file *a, const struct ranks_file *b)
{
	return differ_in(a->name, b->name, REPEAT_WORDS);
}

static bool of_times_that_overlap(const struct ranks_file *a, const struct ranks_file *b)
{
	return overlap(a->trace, b->trace);
}

/* Runs side by side, each in a folder of its own: the profiles of two folders say that they are of the same rank, and
 * those of one folder never do. */
static bool folders_hold_runs(const struct ranks_file *files, size_t n)
{
	bool twice = false;
	for (size_t i = 0; i < n; i++) {
		if (files[i].folder == TRACE_NONE || files[i].rank < 0 || files[i].named)
			return false;
		for (size_t k = 0; k < i; k++) {
			bool same = files[i].run == files[k].run && files[i].rank == files[k].rank;
			if (same && of_one_folder(&files[i], &files[k]))
				return false;
			twice = twice || same;
		}
	}
	return twice;
}

static void tell(struct ranks *r, const char *are, const char *by, struct arena *arena)
{
	r->reason = FACT_NEW(arena, files_told, FACT_NO_SIDE, .by = by);
	r->why = FACT_NEW(arena, files_are, FACT_NO_SIDE, .are = are, .why = r->reason);
}

static void tell_by_times(struct ranks_file *files, size_t n, struct arena *arena, struct ranks *r)
{
	r->n_runs = connect(files, n, of_overlapping_times, arena);
	if (!any_pair(files, n, share_job, true) && folders_hold_runs(files, n)) {
		r->n_runs = connect(files, n, of_one_folder_and_times, arena);
		if (r->n_runs == n)
			tell(r, "repeats", "same_rank", arena);
		else
			tell(r, "folders", "same_ranks", arena);
		return;
	}
	if (r->n_runs == n)
		tell(r, "repeats", any_pair(files, n, of_times_that_overlap, true) ? "jobs" : "times", arena);
	else if (all_share(files, n, share_job))
		tell(r, "ranks", "one_job", arena);
	else if (ranks_differ(files, n))
		tell(r, "ranks", "rank_numbers", arena);
	else if (all_share(files, n, share_program))
		tell(r, "ranks", "program", arena);
	else
		tell(r, "ranks", "overlap", arena);
	r->careful = r->n_runs < n && !all_share(files, n, share_job) && !ranks_differ(files, n) &&
	             !all_share(files, n, share_program);
}

/* Without start times in all of them. */
static void tell_by_names(struct ranks_file *files, size_t n, struct arena *arena, struct ranks *r)
{
	bool jobs = true, folders = true;
	for (size_t i = 0; i < n; i++) {
		jobs = jobs && files[i].trace->source.job;
		folders = folders && files[i].folder != TRACE_NONE;
	}
	if (jobs) {
		r->n_runs = connect(files, n, of_one_job, arena);
		tell(r, "told", "job_of_each", arena);
	} else if (any_pair(files, n, of_one_name, true)) {
		r->n_runs = connect(files, n, of_one_name, arena);
		tell(r, "ranks", "rank_names", arena);
	} else if (!any_pair(files, n, of_one_repeat_name, false)) {
		r->n_runs = connect(files, n, never, arena);
		tell(r, "repeats", "run_names", arena);
	} else if (folders && any_pair(files, n, of_one_folder, false)) {
		r->n_runs = connect(files, n, of_one_folder, arena);
		tell(r, "told", "folders", arena);
	} else {
		r->n_runs = connect(files, n, always, arena);
		r->careful = true;
		tell(r, "ranks", "nothing", arena);
	}
}

static void tell_as_asked(struct ranks_file *files, size_t n, enum ranks_asked asked, struct arena *arena,
                          struct ranks *r)
{
	bool times = true, folders = true;
	for (size_t i = 0; i < n; i++) {
		times = times && has_time(&files[i]);
		folders = folders && files[i].folder != TRACE_NONE;
	}
	if (asked == RANKS_ARE_REPEATS) {
		r->n_runs = connect(files, n, never, arena);
		tell(r, "repeats", "asked", arena);
		return;
	}
	/* Ranks, of several runs where folders or times say so. */
	r->n_runs = times ? connect(files, n, of_overlapping_times, arena) : (uint32_t)n;
	if (r->n_runs == n && folders)
		r->n_runs = connect(files, n, of_one_folder, arena);
	if (r->n_runs == n)
		r->n_runs = connect(files, n, always, arena);
	tell(r, "ranks", "asked", arena);
}

/* ---- the files of a run ---- */

struct member {
	struct ranks_file *file;
	size_t given;
	bool by_rank, by_pid;
};

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	if (x->by_rank && x->file->rank != y->file->rank)
		return x->file->rank < y->file->rank ? -1 : 1;
	if (x->by_pid) {
		int64_t p = x->file->trace->processes[0].pid, q = y->file->trace->processes[0].pid;
		if (p != q)
			return p < q ? -1 : 1;
	}
	return x->given < y->given ? -1 : x->given > y->given;
}

/* Numbers of ranks that a run lacks: those below its highest, or below the size of its job. NULL: none, or not known.
 */
static const struct fact *missing(const struct member *list, size_t n, struct arena *arena)
{
	enum { NAMED = 8 };
	int32_t size = 0;
	char *text = arena_alloc(arena, 16 * NAMED + 80, 1);
	size_t used = 0, lacking = 0;
	for (size_t i = 0; i < n; i++) {
		const struct trace_source *source = &list[i].file->trace->source;
		if (list[i].file->rank < 0)
			return NULL;
		size = list[i].file->rank >= size ? list[i].file->rank + 1 : size;
		size = source->ranks > size ? source->ranks : size;
	}
	size_t at = 0;
	for (int32_t rank = 0; rank < size; rank++) {
		while (at < n && list[at].file->rank < rank)
			at++;
		if (at < n && list[at].file->rank == rank)
			continue;
		if (lacking++ < NAMED)
			used += (size_t)snprintf(text + used, 16, "%s%d", used ? ", " : "", rank);
	}
	if (!lacking)
		return NULL;
	return FACT_NEW(arena, ranks_missing, FACT_NO_SIDE, .lacking = (int64_t)lacking, .list = text,
	                .more = lacking > NAMED, .of = size);
}

/* The first rank that is there for the second time, as files were given; −1: none is. */
static int32_t there_twice(const struct member *list, size_t n)
{
	ARENA_LOCAL(scratch);
	uint64_t *key = ARENA_NEW(&scratch, n, uint64_t);
	size_t first = n;
	for (size_t i = 0; i < n; i++)
		key[i] = (uint64_t)(uint32_t)list[i].file->rank << 32 | i;
	sort_hashes(key, n);
	for (size_t i = 1; i < n; i++)
		if (key[i] >> 32 == key[i - 1] >> 32 && (uint32_t)key[i] < first && (int64_t)key[i] >= 0)
			first = (uint32_t)key[i];
	return first < n ? list[first].file->rank : -1;
}

/* Orders the files of run `run` and gives them a clock; returns which rank is missing, or there twice, or NULL. */
static const struct fact *arrange(struct ranks_file *files, size_t n, uint32_t run, struct arena *arena)
{
	struct member *list = ARENA_NEW(arena, n, struct member);
	size_t m = 0;
	bool ranks = true, one_host = true;
	int64_t begin = INT64_MAX;
	for (size_t i = 0; i < n; i++) {
		if (files[i].run != run)
			continue;
		list[m++] = (struct member){.file = &files[i], .given = i};
		ranks = ranks && files[i].rank >= 0;
		one_host = one_host && files[i].trace->n_processes &&
		           files[i].trace->source.host == list[0].file->trace->source.host;
		if (has_time(&files[i]) && files[i].trace->source.started < begin)
			begin = files[i].trace->source.started;
	}
	int32_t twice = there_twice(list, m);
	ranks = ranks && twice < 0;
	for (size_t i = 0; i < m; i++) {
		list[i].by_rank = ranks;
		list[i].by_pid = one_host;
	}
	SORT(list, m, compare_members);
	for (size_t i = 0; i < m; i++) {
		list[i].file->place = (uint32_t)i;
		list[i].file->offset = has_time(list[i].file) ? list[i].file->trace->source.started - begin : 0;
	}
	if (twice >= 0)
		return FACT_NEW(arena, rank_twice, FACT_NO_SIDE, .rank = twice);
	return m > 1 && ranks ? missing(list, m, arena) : NULL;
}

/* Where runs of several files do not have as many: files of another job may be among them. NULL: they have. */
static const struct fact *uneven(const struct ranks_file *files, size_t n, uint32_t n_runs, struct arena *arena)
{
	size_t *count = ARENA_NEW(arena, n_runs, size_t), *first = ARENA_NEW(arena, n_runs, size_t);
	uint32_t fewest = 0, most = 0;
	for (size_t i = n; i-- > 0;) {
		count[files[i].run]++;
		first[files[i].run] = i;
	}
	for (uint32_t run = 1; run < n_runs; run++) {
		fewest = count[run] < count[fewest] ? run : fewest;
		most = count[run] > count[most] ? run : most;
	}
	if (count[fewest] == count[most])
		return NULL;
	return FACT_NEW(arena, runs_uneven, FACT_NO_SIDE, .fewest = (int64_t)count[fewest],
	                .file = files[first[fewest]].name, .most = (int64_t)count[most]);
}

struct ranks ranks_tell(struct ranks_file *files, size_t n, enum ranks_asked asked, struct arena *arena)
{
	struct ranks r = {.n_runs = 1};
	bool times = true;
	for (size_t i = 0; i < n; i++) {
		files[i].run = 0;
		files[i].rank = rank_of(&files[i]);
		files[i].named = is_named(&files[i]);
		times = times && has_time(&files[i]);
	}
	if (n > 1 && asked != RANKS_TELL)
		tell_as_asked(files, n, asked, arena, &r);
	else if (n > 1 && times)
		tell_by_times(files, n, arena, &r);
	else if (n > 1)
		tell_by_names(files, n, arena, &r);
	const struct fact *lacking = NULL;
	for (uint32_t run = 0; run < r.n_runs; run++) {
		const struct fact *first = arrange(files, n, run, arena);
		lacking = lacking ? lacking : first;
	}
	const struct fact *apart = uneven(files, n, r.n_runs, arena);
	if (r.n_runs == n && !lacking)
		return r;
	r.note =
		FACT_NEW(arena, files_count_as, FACT_NO_SIDE, .files = (int64_t)n, .runs = r.n_runs == n ? 0 : r.n_runs,
	                 .careful = r.careful, .why = r.reason, .lacking = lacking, .uneven = apart);
	return r;
}

/* Whether all processes with GPU work use one GPU: as a rank that was started again does. */
static bool on_one_gpu(const struct trace *t)
{
	for (uint32_t d = 0; d < t->n_devices; d++)
		if (t->devices[d].gpu == TRACE_NONE || t->devices[d].gpu != t->devices[0].gpu)
			return false;
	return t->n_devices > 0;
}

void ranks_number(struct trace *t, int32_t rank)
{
	if (rank < 0 || (!main_process(t) && !on_one_gpu(t)))
		return;
	for (uint32_t d = 0; d < t->n_devices; d++)
		if (t->processes[t->devices[d].process].rank < 0)
			t->processes[t->devices[d].process].rank = rank;
}
