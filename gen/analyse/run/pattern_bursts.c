#include "analyse/run/pattern_bursts.h"

#include "base/sort.h"

/* Cycles that explain too little together may be parted by what is no cycle of theirs. Of cycles that hold half as much
 * again the rest is that, too: a prompt has about as many kernels as a token. */
static void part_longer(struct pattern_fit *f, uint32_t from, uint32_t to)
{
	for (uint32_t k = from; k < to; k++)
		f->more[k] = f->more[k] ||
		             (f->grade[k] == GRADE_CYCLE && (double)(f->cut[k + 1] - f->cut[k]) > RULE_LONGER * f->ops);
}

/* The run of cycles that begins at or after `k`, up to one that is none or has something else behind it. */
static bool next_run(const struct pattern_fit *f, uint32_t to, uint32_t k, uint32_t *first, uint32_t *end)
{
	while (k < to && f->grade[k] == GRADE_NONE)
		k++;
	*first = k;
	while (k < to && f->grade[k] != GRADE_NONE) {
		k++;
		if (f->more[k - 1])
			break;
	}
	*end = k;
	return k > *first;
}

/* Whether runs of cycles are of different lengths, most of them, and nearly all that there is: layers are as many in
 * every step. */
static bool runs_vary(const struct pattern_fit *f, uint32_t from, uint32_t to)
{
	struct arena scratch = {0};
	uint32_t *length = ARENA_NEW(&scratch, to - from, uint32_t), n = 0, same = 0, first, end;
	size_t inside = 0;
	for (uint32_t k = from; next_run(f, to, k, &first, &end); k = end) {
		length[n++] = end - first;
		for (uint32_t i = first; i < end; i++)
			inside += f->cut[i + 1] - f->cut[i] < f->ops ? f->cut[i + 1] - f->cut[i] : f->ops;
	}
	sort_counts(length, n);
	for (uint32_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && length[k] == length[i]; k++)
			;
		same = k - i > same ? k - i : same;
	}
	arena_release(&scratch);
	return n >= RULE_CYCLES_VARIED && same <= RULE_HALF * n &&
	       (double)inside >= RULE_MOST * (double)(f->cut[to] - f->cut[from]);
}

/* Whether what is no cycle is one with a few kernels under other names: as long, and three quarters of it the same. */
static bool is_near(const struct pattern_fit *f, uint32_t k)
{
	size_t ops = f->cut[k + 1] - f->cut[k];
	return f->grade[k] == GRADE_NONE && (double)ops >= (1 - RULE_NEAR) * f->ops &&
	       (double)ops <= (1 + RULE_NEAR) * f->ops && f->off[k] <= RULE_HALF * f->ops;
}

/* Cycles that are none, and that hardly any other is like: steps of which some kernels are other ones each time, say.
 * What lies between runs of steps is alike (a validation's passes), or there is little of it: where steps that vary
 * would be left out, and their time counted, nothing is told. */
static bool vary_between(const struct pattern_fit *f, const struct pattern_sequence *s, uint32_t from, uint32_t to,
                         uint32_t cycles)
{

	struct arena scratch = {0};
	uint64_t *sum = ARENA_NEW(&scratch, to - from, uint64_t);
	uint32_t n = 0, varied = 0, near = 0;
	for (uint32_t k = from; k < to; k++)
		near += is_near(f, k);
	for (uint32_t k = from; k < to; k++)
		if (f->grade[k] == GRADE_NONE && (double)(f->cut[k + 1] - f->cut[k]) >= RULE_HALF * f->ops &&
		    RULE_HALF * (double)(f->cut[k + 1] - f->cut[k]) <= f->ops)
			sum[n++] = f->sum[k];
	sort_hashes(sum, n);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && sum[end] == sum[i]; end++)
			;
		varied += end - i < RULE_FEW ? end - i : 0;
	}
	arena_release(&scratch);
	return varied > (1 - RULE_EXPLAINED) * cycles || near > RULE_LITTLE * cycles ||
	       pattern_fit_behind(f, s, from, to) > RULE_QUARTER * cycles;
}

/* Adds how much of the cycles [from, to) is usual. */
static void add_share(struct pattern_share *sum, const struct pattern_fit *f, const struct pattern_sequence *s,
                      uint32_t from, uint32_t to)
{
	ARENA_LOCAL(scratch);
	struct pattern_share one = pattern_fit_share(f, s, from, to, &scratch);
	double ops = (double)(sum->n_ops + one.n_ops), time = sum->all_time + one.all_time;
	if (ops > 0)
		sum->ops = (sum->ops * (double)sum->n_ops + one.ops * (double)one.n_ops) / ops;
	if (time > 0)
		sum->time = (sum->time * sum->all_time + one.time * one.all_time) / time;
	sum->alike += one.alike;
	sum->n_ops += one.n_ops;
	sum->all_time = time;
}

/* How much of the runs of cycles in [from, to) is usual. */
static struct pattern_share share_of_runs(const struct pattern_fit *f, const struct pattern_sequence *s, uint32_t from,
                                          uint32_t to)
{
	struct pattern_share share = {0};
	uint32_t first, end;
	for (uint32_t k = from; next_run(f, to, k, &first, &end); k = end)
		add_share(&share, f, s, first, end - (f->more[end - 1] != 0));
	return share;
}

/* Ops between runs of cycles, if nearly all of what lies there is written out: a solver's state now and then. */
static size_t all_written(const struct pattern_sequence *s, const struct pattern_fit *f, uint32_t from, uint32_t to)
{
	ARENA_LOCAL(scratch);
	const uint32_t *written = pattern_fit_written(f, s, &scratch);
	size_t ops = 0, between = 0;
	for (uint32_t k = from; k < to; k++) {
		size_t all = f->cut[k + 1] - f->cut[k], beyond = f->grade[k] == GRADE_NONE ? all
		                                                 : all > f->ops            ? all - f->ops
		                                                                           : 0;
		ops += written[k];
		between += beyond;
	}
	return (double)ops >= RULE_EXPLAINED * (double)between ? ops : 0;
}

void pattern_bursts_find(struct pattern_fit *f, const struct pattern_sequence *s, uint32_t from, uint32_t to,
                         struct pattern_bursts *out)
{
	uint32_t first = from, end, in_runs = 0;
	*out = (struct pattern_bursts){0};
	part_longer(f, from, to);
	for (uint32_t k = from; next_run(f, to, k, &first, &end); k = end) {
		out->cycles += end - first;
		if (end - first < RULE_CYCLES)
			continue;
		out->runs++;
		in_runs += end - first;
		if (end - first > out->end - out->first) {
			out->first = first;
			out->end = end;
		}
	}
	bool whole = out->runs > RULE_FEW && in_runs >= RULE_HALF * out->cycles &&
	             out->cycles >= RULE_EXPLAINED * (to - from);
	out->are_loop = out->runs > 1 && (whole || in_runs >= RULE_NEARLY_ALL * out->cycles) &&
	                (pattern_fit_host(f, s, from, to, GRADE_NONE) >= RULE_NEARLY_ALL || runs_vary(f, from, to)) &&
	                !vary_between(f, s, from, to, out->cycles);
	if (out->are_loop)
		out->written = all_written(s, f, from, to);
	if (out->are_loop || out->runs > RULE_FEW)
		out->share = share_of_runs(f, s, from, to);
}
