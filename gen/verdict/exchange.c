#include "verdict/exchange.h"

#include "base/sort.h"
#include "verdict/evidence.h"
#include "verdict/stats.h"

#include <math.h>
#include <stdlib.h>

struct ranked {
	int64_t start, end;
	double rank;
	size_t index; /* among its side's runs */
	int side;
};

SORT_ORDER(by_start, struct ranked,
           ASCENDING(x->start, y->start) ?: ASCENDING(x->side, y->side) ?: ASCENDING(x->index, y->index))

/* Runs with a start time by that; returns how many. A time that none can be is not known. `stretch`: by run, of which
 * stretch of time without a pause it is, counted from 1; 0: not known. */
static size_t rank(const struct exchange_run *const run[2], const size_t n[2], struct ranked *out, size_t *stretch[2])
{
	size_t all = 0, now = 1;
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < n[s]; r++)
			if (run[s][r].start > 0)
				out[all++] = (struct ranked){
					.start = run[s][r].start, .end = run[s][r].end, .index = r, .side = s};
	SORT(out, all, by_start);
	int64_t until = INT64_MIN;
	for (size_t i = 0; i < all; i++) {
		now += i > 0 && out[i].start - until > EVIDENCE_PAUSE;
		stretch[out[i].side][out[i].index] = now;
		out[i].rank = (double)(i + 1);
		int64_t end = out[i].end > out[i].start ? out[i].end : out[i].start;
		until = end > until ? end : until;
	}
	return all;
}

/* With the ranks t = 1 … N of all runs by start, VIF = Σ (t − t̄)² / Σ_s Σ (t − t̄_s)². */
static void judge_order(const struct ranked *run, size_t all, const size_t n[2], struct exchange *out)
{
	double mean[2] = {0}, within = 0, N = (double)all;
	out->known = all == n[0] + n[1];
	for (size_t i = 0; i < all; i++) {
		out->known = out->known && (i == 0 || run[i].start != run[i - 1].start);
		mean[run[i].side] += run[i].rank / (double)n[run[i].side];
	}
	out->in_turns = out->known;
	if (!out->known || n[0] < 2 || n[1] < 2)
		return;
	for (size_t i = 0; i < all; i++)
		within += (run[i].rank - mean[run[i].side]) * (run[i].rank - mean[run[i].side]);
	out->in_turns = N * (N * N - 1) / 12 <= EVIDENCE_ENTANGLED * within;
	out->first = mean[1] < mean[0];
}

static bool same_gpu(const struct exchange_place *a, const struct exchange_place *b)
{
	for (size_t i = 0; i < a->n_gpus; i++)
		for (size_t k = 0; k < b->n_gpus; k++)
			if (a->gpu[i] == b->gpu[k])
				return true;
	return false;
}

/* What parts two runs, of stretches `p` and `q`; false: nothing that is known does. */
static bool parted(const struct exchange_run *x, size_t p, const struct exchange_run *y, size_t q, struct exchange *out)
{
	const struct exchange_place *a = &x->place, *b = &y->place;
	bool gpus = a->n_gpus && b->n_gpus, gpu = gpus && !same_gpu(a, b);
	bool host = a->host && b->host && a->host != b->host && (!gpus || gpu);
	bool time = p && q && p != q;
	int64_t later = time ? llabs(x->start - y->start) : 0;
	if (!gpu && !host && !time)
		return false;
	out->other_gpu = out->other_gpu || gpu;
	out->other_host = out->other_host || host;
	out->other_time = out->other_time || time;
	out->other_day = out->other_day || later >= EVIDENCE_DAY;
	return true;
}

static void judge_sessions(const struct exchange_run *const run[2], const size_t n[2], size_t *const stretch[2],
                           struct exchange *out)
{
	struct exchange found = *out;
	for (size_t a = 0; a < n[0]; a++)
		for (size_t b = 0; b < n[1]; b++)
			if (!parted(&run[0][a], stretch[0][a], &run[1][b], stretch[1][b], &found))
				return;
	*out = found;
	out->sessions = n[0] > 0 && n[1] > 0;
}

/* ---- what sessions differ by ---- */

/* One side's runs of one session. */
struct session {
	size_t label;
	const struct exchange_run *first; /* in their order */
	double sum, runs;                 /* of their times per step */
	double start;                     /* of the first that began; 0: not known */
};

/* What is not known of two runs does not part them. */
static size_t find_sessions(const struct exchange_run *run, size_t n, const size_t *stretch, struct arena *arena,
                            struct session *session)
{
	size_t *label = ARENA_NEW(arena, n, size_t), found = 0;
	struct exchange unused = {0};
	for (size_t r = 0; r < n; r++) {
		label[r] = r;
		for (size_t q = 0; q < r; q++)
			if (!parted(&run[q], stretch[q], &run[r], stretch[r], &unused))
				for (size_t k = 0, old = label[r]; k <= r; k++)
					label[k] = label[k] == old ? label[q] : label[k];
	}
	for (size_t r = 0; r < n; r++) {
		size_t k = 0;
		while (k < found && session[k].label != label[r])
			k++;
		if (k == found)
			session[found++] = (struct session){.label = label[r], .first = &run[r], .start = INFINITY};
		session[k].sum += run[r].mean;
		session[k].runs++;
		session[k].start = fmin(session[k].start, (double)run[r].start);
	}
	return found;
}

/* Whether one of the other side's is too far from the nearest of these, beside how far two neighbours of these are. */
static bool is_far(const struct session *s, size_t n, const struct session *other, size_t n_other, double *start)
{
	double widest = 0;
	for (size_t i = 0; i < n; i++)
		start[i] = s[i].start;
	sort_doubles(start, n);
	for (size_t i = 1; i < n; i++)
		widest = fmax(widest, start[i] - start[i - 1]);
	for (size_t k = 0; k < n_other; k++) {
		double nearest = INFINITY;
		for (size_t i = 0; i < n; i++)
			nearest = fmin(nearest, fabs(other[k].start - start[i]));
		if (nearest > EVIDENCE_SESSIONS_FAR * widest || !(other[k].start > 0))
			return true;
	}
	return !(start[0] > 0);
}

/* Whether they are not all of different hosts, or GPUs, where the sides are. */
static bool is_unlike(const struct session *s, size_t n, const struct exchange *e)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			struct exchange found = {0};
			parted(s[k].first, 0, s[i].first, 0, &found);
			if ((e->other_host && !found.other_host) || (e->other_gpu && !found.other_gpu))
				return true;
		}
	return false;
}

static double log_means(const struct session *s, size_t n, double *x)
{
	for (size_t i = 0; i < n; i++)
		x[i] = log(s[i].sum / s[i].runs);
	return sqrt(stats_variance(x, n));
}

static void measure_sessions(const struct exchange_run *const run[2], const size_t n[2], size_t *const stretch[2],
                             struct arena *arena, struct exchange *out)
{
	struct session *session[2];
	double *x[2], spread[2], mean[2] = {0};
	size_t found[2];
	for (int s = 0; s < 2; s++) {
		for (size_t r = 0; r < n[s]; r++) {
			if (!(run[s][r].mean > 0))
				return;
			mean[s] += run[s][r].mean / (double)n[s];
		}
		session[s] = ARENA_NEW(arena, n[s], struct session);
		found[s] = find_sessions(run[s], n[s], stretch[s], arena, session[s]);
		x[s] = ARENA_NEW(arena, n[s], double);
		spread[s] = log_means(session[s], found[s], x[s]);
	}
	int s = found[1] > found[0] || (found[1] == found[0] && spread[1] > spread[0]);
	double k = (double)found[s], moved = stats_mean(x[s], found[s]) - log(mean[s]);
	if (found[s] < EVIDENCE_SESSIONS)
		return;
	struct exchange_sessions m = {.n = found[s], .side = s, .spread = spread[s], .moved = s ? -moved : moved};
	m.half = stats_t_quantile(EVIDENCE_SESSIONS_SURE, k - 1) * m.spread * sqrt(1 + 1 / k);
	m.far = out->other_time && is_far(session[s], found[s], session[!s], found[!s], x[s]);
	m.unlike = is_unlike(session[s], found[s], out);
	if (m.far || m.unlike)
		m.half = hypot(m.half, EVIDENCE_APART);
	out->measured = m;
}

struct exchange exchange_judge(const struct exchange_run *const run[2], const size_t n[2])
{
	struct exchange out = {0};
	ARENA_LOCAL(work);
	struct ranked *ranked = ARENA_NEW(&work, n[0] + n[1], struct ranked);
	size_t *stretch[2] = {ARENA_NEW(&work, n[0], size_t), ARENA_NEW(&work, n[1], size_t)};
	judge_order(ranked, rank(run, n, ranked, stretch), n, &out);
	judge_sessions(run, n, stretch, &out);
	if (out.sessions || (out.known && !out.in_turns))
		out.apart = EVIDENCE_APART;
	if (out.sessions)
		measure_sessions(run, n, stretch, &work, &out);
	return out;
}

/* That launches take longer than recording explains holds where kernels tell nothing of the GPU, too. */
bool exchange_has_state(const size_t n[2], const struct controls *c)
{
	bool few = n[0] < EVIDENCE_SEVERAL || n[1] < EVIDENCE_SEVERAL;
	return few && c && (c->known || c->host_slower) &&
	       (fmin(c->waits[0], c->waits[1]) > EVIDENCE_STILL_HOST ||
	        (c->known && fabs(c->gpu) > EVIDENCE_STILL_GPU));
}

/* The speedup at one pace of the host: where the host makes the step, all of the slower side's step is shorter by the
 * pace; but no more goes than its GPU waits for the host. Where one side's GPU hardly does, the wait is what changed.
 * And where launches reach an idle GPU later on one side, somebody else had it. */
void exchange_add_state(struct exchange *e, const size_t n[2], const struct controls *c)
{
	if (c && !c->known && (n[0] < EVIDENCE_SEVERAL || n[1] < EVIDENCE_SEVERAL))
		e->unseen = hypot(EVIDENCE_APART, EVIDENCE_UNSEEN_PACE * fmax(c->waits[0], c->waits[1]));
	if (!exchange_has_state(n, c))
		return;
	double w = fmin(c->waits[0], c->waits[1]);
	double waited = w > EVIDENCE_STILL_HOST ? c->waits[c->host < 0] : w;
	double gone = fmin(fmin(-expm1(-fabs(c->host)), EVIDENCE_PACE_MOST), waited);
	double of[2] = {c->late[0], c->late[1]}; /* their steps */
	of[c->host < 0] += gone;
	for (int s = 0; s < 2; s++) {
		e->calls[s] = -log1p(-fmin(c->calls[s] + c->copies[s], EVIDENCE_STATE_MOST));
		of[s] = log1p(-fmin(of[s], EVIDENCE_STATE_MOST));
	}
	e->clock = c->clock * (1 - w);
	e->moved = of[1] - of[0];
	e->state = EVIDENCE_STATE_CODE * fabs(e->moved);
	const double pace = hypot(EVIDENCE_STATE_PACE * w, EVIDENCE_STATE_ALONE * fmin(c->alone[0], c->alone[1]));
	if (c->known) /* else it is in `unseen` */
		e->state = hypot(hypot(EVIDENCE_STATE, pace), e->state);
}

double exchange_apart(const struct exchange *e)
{
	return e->measured.n ? e->measured.half : e->apart;
}

bool exchange_floored(const struct exchange *e)
{
	return e->measured.n || !(e->apart > 0);
}

double exchange_widen(const struct exchange *e, double half, int end)
{
	double apart = exchange_apart(e), sign = end ? 1 : -1;
	double wide = e->measured.n ? fmax(half, apart) : apart > 0 ? hypot(half, apart) : half;
	if (e->state > 0)
		wide = hypot(wide, e->state) + e->calls[end] + fmax(0, fmax(-sign * e->moved, -sign * e->clock));
	return wide + fmax(0, sign * e->measured.moved);
}

const struct fact *exchange_where(const struct exchange *e, struct arena *arena)
{
	const char *const parts[3] = {e->other_day    ? "day"
	                              : e->other_time ? "time"
	                                              : NULL,
	                              e->other_host ? "host" : NULL, e->other_gpu ? "gpu" : NULL};
	struct facts *where = ARENA_NEW(arena, 1, struct facts);
	for (int i = 0; i < 3 && e->sessions; i++)
		if (parts[i])
			FACT_ADD(where, arena, another_place, FACT_NO_SIDE, .what = parts[i]);
	return where->n ? FACT_NEW(arena, elsewhere, FACT_NO_SIDE, .where = where) : NULL;
}

/* ---- what did not change tells the state ---- */

static const char *slower(double ln)
{
	return expm1(fabs(ln)) < 0.01 ? "none" : ln > 0 ? "baseline" : "fixed";
}

static const double LATE = 0.01; /* of a step, to be said */

const struct fact *controls_say(const struct controls *c, struct arena *arena)
{
	const int longer = c->calls[1] > c->calls[0], copies = c->copies[1] > c->copies[0];
	return FACT_NEW(arena, machine_state, FACT_NO_SIDE, .gpu = expm1(fabs(c->gpu)),
	                .slower_gpu = c->gpu_told ? slower(c->gpu) : "unknown", .host = expm1(fabs(c->host)),
	                .slower_host = c->host_seen ? slower(c->host) : "unknown",
	                .allows = c->clock != 0 ? "both" : "host",
	                .busy = c->late[0] > LATE   ? "baseline"
	                        : c->late[1] > LATE ? "fixed"
	                                            : "none",
	                .baseline = c->arrival[0], .fixed = c->arrival[1],
	                .calls = c->calls[longer] <= LATE ? "none"
	                         : longer                 ? "fixed"
	                                                  : "baseline",
	                .in_calls = c->calls[longer],
	                .copies = c->copies[copies] <= LATE ? "none"
	                          : copies                  ? "fixed"
	                                                    : "baseline",
	                .in_copies = c->copies[copies]);
}
