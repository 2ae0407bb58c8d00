#include "analyse/judge/order.h"

#include "analyse/judge/stats.h"
#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

static const double ENTANGLED = 1.5;

double order_half_width(double variance, double spread)
{
	if (!(variance > 0) || !(spread > 0))
		return 0;
	return stats_t_quantile(0.975, variance * variance / spread) * sqrt(variance);
}

double order_welch(const double *const x[2], const size_t n[2])
{
	double square[2] = {stats_variance(x[0], n[0]), stats_variance(x[1], n[1])};
	double ra = (double)n[0], rb = (double)n[1];
	if (n[0] > 1 && n[1] > 1) {
		double a = square[0] / ra, b = square[1] / rb;
		return order_half_width(a + b, a * a / (ra - 1) + b * b / (rb - 1));
	}
	if (n[0] == 1 && n[1] == 1)
		return 0;
	double v = (square[0] + square[1]) * (1 / ra + 1 / rb);
	return order_half_width(v, v * v / (fmax(ra, rb) - 1));
}

struct ranked {
	int64_t start;
	double y, t;
	int side;
};

static int by_start(const void *a, const void *b)
{
	int64_t x = ((const struct ranked *)a)->start, y = ((const struct ranked *)b)->start;
	return (x > y) - (x < y);
}

/* All runs by start; false if that is not known. */
static bool rank(const double *const y[2], const int64_t *const start[2], const size_t n[2], struct ranked *run)
{
	size_t all = 0;
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < n[s]; r++) {
			if (start[s][r] == 0)
				return false;
			run[all++] = (struct ranked){start[s][r], y[s][r], 0, s};
		}
	qsort(run, all, sizeof *run, by_start);
	for (size_t i = 0; i < all; i++) {
		if (i > 0 && run[i].start == run[i - 1].start)
			return false;
		run[i].t = (double)(i + 1);
	}
	return true;
}

/* Means of t and y by side, and the sums of squares and products within the sides. */
struct moments {
	double t[2], y[2], tt, ty, yy;
};

static struct moments moments_of(const struct ranked *run, const size_t n[2])
{
	struct moments m = {0};
	double tt[2] = {0}, ty[2] = {0}, yy[2] = {0};
	size_t all = n[0] + n[1];
	for (size_t i = 0; i < all; i++) {
		m.t[run[i].side] += run[i].t / (double)n[run[i].side];
		m.y[run[i].side] += run[i].y / (double)n[run[i].side];
	}
	for (size_t i = 0; i < all; i++) {
		int s = run[i].side;
		double t = run[i].t - m.t[s], y = run[i].y - m.y[s];
		tt[s] += t * t;
		ty[s] += t * y;
		yy[s] += y * y;
	}
	m.tt = tt[0] + tt[1];
	m.ty = ty[0] + ty[1];
	m.yy = yy[0] + yy[1];
	return m;
}

struct order order_judge(const double *const y[2], const int64_t *const start[2], const size_t n[2])
{
	struct order order = {0};
	struct arena work = {0};
	size_t all = n[0] + n[1];
	struct ranked *run = ARENA_NEW(&work, all, struct ranked);
	order.known = rank(y, start, n, run);
	if (order.known && n[0] > 1 && n[1] > 1) {
		struct moments m = moments_of(run, n);
		double ra = (double)n[0], rb = (double)n[1], N = ra + rb, apart = m.t[1] - m.t[0];
		double total = N * (N * N - 1) / 12; /* Σ (t − t̄)² of 1 … N */
		order.interleaved = total <= ENTANGLED * m.tt;
		order.judged = !order.interleaved;
		order.first = apart < 0;
		order.vif = total / m.tt;
		if (order.judged) {
			order.drift = m.ty / m.tt;
			order.change = m.y[0] - m.y[1] + order.drift * apart;
			double rest = fmax(m.yy - m.ty * order.drift, 0) / (N - 3);
			double variance = rest * (1 / ra + 1 / rb + apart * apart / m.tt);
			order.half = stats_t_quantile(0.975, N - 3) * sqrt(variance);
		}
	} else {
		order.interleaved = order.known;
	}
	arena_release(&work);
	return order;
}
