/* Every statistic against numbers worked out by hand, from tables, or by the plain formula. */
#include "base/sort.h"
#include "verdict/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.17g is not %.17g", value, expected);
}

static void order(void **unused)
{
	(void)unused;
	double x[] = {3, -1, 2, 2, 10};
	sort_doubles(x, 5);
	double expected[] = {-1, 2, 2, 3, 10};
	assert_memory_equal(x, expected, sizeof x);
	near(stats_median(x, 5), 2, 0);
	near(stats_median(x, 4), 2, 0);                        /* (2 + 2) / 2 */
	near(stats_median((double[]){1, 2, 5, 9}, 4), 3.5, 0); /* (2 + 5) / 2 */
	near(stats_median((double[]){7}, 1), 7, 0);
	double scratch[5];
	/* distances from 3: 2 1 0 1 97, sorted 0 1 1 2 97 */
	near(stats_mad((double[]){1, 2, 3, 4, 100}, 5, 3, scratch), 1, 0);
	/* distances from 0: 1 2 3 4, the middle two are 2 and 3 */
	near(stats_mad((double[]){-4, 1, 2, -3}, 4, 0, scratch), 2.5, 0);
}

/* Between two values where just that share lies below: turned round, the list has it at the other share. */
static void weighed(void **unused)
{
	(void)unused;
	struct stats_weighed x[] = {{4, 1}, {1, 1}, {3, 1}, {2, 1}}, y[] = {{-4, 1}, {-1, 1}, {-3, 1}, {-2, 1}};
	near(stats_weighed_quantile(x, 4, 0.25), 1.5, 0);
	near(stats_weighed_quantile(x, 4, 0.3), 2, 0);
	near(stats_weighed_quantile(x, 4, 0.5), 2.5, 0);
	near(stats_weighed_quantile(y, 4, 0.75), -1.5, 0);
	/* 0.1 + 0.2 is not 0.3, and a third of 0.9 */
	struct stats_weighed thirds[] = {{1, 0.1}, {2, 0.2}, {3, 0.6}};
	near(stats_weighed_quantile(thirds, 3, 1 / 3.), 2.5, 0);
	near(stats_weighed_quantile((struct stats_weighed[]){{7, 2}}, 1, 0.5), 7, 0);
}

static void location(void **unused)
{
	(void)unused;
	near(stats_mean((double[]){1, 2, 6}, 3), 3, 1e-15);
	/* deviations from 2.5: −1.5 −0.5 0.5 1.5, squares add up to 5, divided by 3 */
	near(stats_variance((double[]){1, 2, 3, 4}, 4), 5.0 / 3, 1e-15);
	near(stats_variance((double[]){5}, 1), 0, 0);
	/* (2 + 3 + … + 9) / 8 = 44 / 8 */
	double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 100};
	near(stats_trimmed_mean(x, 10, 1), 5.5, 1e-15);
	near(stats_trimmed_mean(x, 10, 0), 14.5, 1e-14);
	stats_clamp(x, 10, 2, 9);
	near(x[0], 2, 0);
	near(x[1], 2, 0);
	near(x[5], 6, 0);
	near(x[9], 9, 0);
}

/* The mean of equal numbers is that number and their variance nothing, to the last bit, whatever the number: an exact
 * speedup of 1 for identical sides rests on it. */
static void equal_numbers(void **unused)
{
	(void)unused;
	double x[37];
	for (int i = 0; i < 37; i++)
		x[i] = log(123456789);
	assert_true(stats_mean(x, 37) == x[0]);
	assert_true(stats_variance(x, 37) == 0);
	assert_true(stats_cosine_variance(x, 37, 5) == 0);
	assert_true(stats_autocorrelation_time(x, 37, 12) == 1);
}

static void cosines(void **unused)
{
	(void)unused;
	/* n = 2: Λ_1 = √1 (−½ cos π/4 + ½ cos 3π/4) = −√½, Ω = ½ */
	near(stats_cosine_variance((double[]){0, 1}, 2, 1), 0.5, 1e-15);
	/* n = 4, deviations −1.5 −0.5 0.5 1.5, c = cos π/8, s = cos 3π/8:
	 * Λ_1 = −√½ (3c + s), Λ_1² = (9c² + 6cs + s²)/2; with c² = (2 + √2)/4, s² = (2 − √2)/4, cs = √2/4 that is
	 * (5 + 3.5 √2)/2. Λ_2 = 0. Λ_3² = (c − 3s)²/2 = (5 − 3.5 √2)/2. */
	double x[] = {1, 2, 3, 4};
	near(stats_cosine_variance(x, 4, 1), 2.5 + 1.75 * sqrt(2), 1e-14);
	near(stats_cosine_variance(x, 4, 2), (2.5 + 1.75 * sqrt(2)) / 2, 1e-14);
	near(stats_cosine_variance(x, 4, 3), 5.0 / 3, 1e-14);
}

static uint64_t seed = 1;

static double noise(void)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (double)(seed >> 11) / 9007199254740992.0 - 0.5;
}

/* The rotation inside must not lose digits over a long series. */
static void cosines_of_long_series(void **unused)
{
	(void)unused;
	enum { N = 5000, TERMS = 116 };
	static double x[N];
	double mean = 0, omega = 0;
	for (int i = 0; i < N; i++) {
		x[i] = 17 + (i ? 0.5 * (x[i - 1] - 17) : 0) + noise();
		mean += x[i] / N;
	}
	for (int j = 1; j <= TERMS; j++) {
		double sum = 0;
		for (int i = 1; i <= N; i++)
			sum += (x[i - 1] - mean) * cos(acos(-1) * j * (i - 0.5) / N);
		omega += 2.0 / N * sum * sum / TERMS;
	}
	near(stats_cosine_variance(x, N, TERMS) / omega, 1, 1e-10);
}

static void autocorrelation(void **unused)
{
	(void)unused;
	/* deviations −1.5 −0.5 0.5 1.5, squares 5: r_1 = (0.75 − 0.25 + 0.75)/5 = 0.25, r_2 = (−0.75 − 0.75)/5 < 0 */
	near(stats_autocorrelation_time((double[]){1, 2, 3, 4}, 4, 3), 1.5, 1e-15);
	near(stats_autocorrelation_time((double[]){1, 2, 3, 4}, 4, 0), 1, 0);
	/* halves ∓½ of 8: r_1 = (6 − 1)/8, r_2 = (4 − 2)/8, r_3 = (2 − 3)/8 */
	double step[] = {0, 0, 0, 0, 1, 1, 1, 1};
	near(stats_autocorrelation_time(step, 8, 7), 1 + 2 * (5.0 / 8 + 2.0 / 8), 1e-15);
	near(stats_autocorrelation_time(step, 8, 1), 1 + 2 * 5.0 / 8, 1e-15);
	/* neighbours that swing to and fro are no fewer than independent ones */
	near(stats_autocorrelation_time((double[]){1, -1, 1, -1, 1, -1}, 6, 5), 1, 0);
}

static void student(void **unused)
{
	(void)unused;
	static const struct {
		double p, dof, t;
	} TABLE[] = {
		/* closed forms: dof 1 is tan(π(p − ½)); dof 2 is (2p − 1)/√(2p(1 − p)) */
		{0.975, 1, 12.706204736174707},
		{0.9, 1, 3.0776835371752534},
		{0.975, 2, 4.3026527297494639},
		/* printed tables, more digits from an arbitrary-precision library */
		{0.975, 3, 3.1824463052837096},
		{0.975, 4, 2.7764451051977944},
		{0.975, 8, 2.3060041352041667},
		{0.9995, 8, 5.041305433373367},
		{0.975, 10, 2.2281388519862747},
		{0.95, 30, 1.6972608865939578},
		{0.975, 30, 2.0422724563012383},
		{0.975, 120, 1.9799304050824408},
		/* fractional degrees of freedom, arbitrary precision */
		{0.975, 0.5, 164.5576734804885},
		{0.6, 1.5, 0.3007453925697954},
		{0.975, 2.5, 3.574654842003683},
		{0.975, 3.7, 2.867520707191189},
		{0.975, 17.25, 2.107488737428335},
		{0.975, 123.456, 1.979366056167078},
		/* the normal distribution far out */
		{0.975, 1e12, 1.9599639845400542},
		{0.5, 7, 0},
	};
	for (size_t i = 0; i < sizeof TABLE / sizeof TABLE[0]; i++) {
		double t = TABLE[i].t;
		near(stats_t_quantile(TABLE[i].p, TABLE[i].dof), t, 1e-9 * fmax(1, t));
		near(stats_t_quantile(1 - TABLE[i].p, TABLE[i].dof), -t, 1e-9 * fmax(1, t));
	}
	near(stats_t_tail(1, 1), 0.25, 1e-15);
	near(stats_t_tail(sqrt(2), 2), 0.5 - sqrt(2) / 4, 1e-15); /* ½ − t / (2 √(2 + t²)) */
	near(stats_t_tail(0, 5), 0.5, 1e-15);
}

/* Far from the table: the quantile is where the density, integrated by Simpson's rule from 0, reaches p − ½. */
static void student_is_the_integral(void **unused)
{
	(void)unused;
	static const double DOF[] = {1.3, 3, 5.5, 11, 19.9, 39.9, 40.1, 250, 2500};
	enum { N = 20000 };
	for (size_t k = 0; k < sizeof DOF / sizeof DOF[0]; k++) {
		double dof = DOF[k], t = stats_t_quantile(0.975, dof), sum = 0;
		for (int i = 0; i <= N; i++) {
			double x = t * i / N;
			sum += (i == 0 || i == N ? 1 : i % 2 ? 4 : 2) * pow(1 + x * x / dof, -(dof + 1) / 2);
		}
		double peak = exp(lgamma((dof + 1) / 2) - lgamma(dof / 2)) / sqrt(dof * acos(-1));
		near(peak * sum * t / N / 3, 0.475, 1e-10);
	}
}

/* The branches of the formula (20 in the gamma ratio, the normal far out) meet without a step. */
static void student_is_smooth(void **unused)
{
	(void)unused;
	static const double AT[] = {40, 3e6};
	for (size_t i = 0; i < 2; i++) {
		double below = stats_t_quantile(0.975, AT[i] * (1 - 1e-12)),
		       above = stats_t_quantile(0.975, AT[i] * (1 + 1e-12));
		near(below, above, 1e-10);
	}
	for (double dof = 0.2; dof < 1e8; dof *= 1.7)
		assert_true(stats_t_quantile(0.975, dof) > stats_t_quantile(0.975, dof * 1.7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order),
		cmocka_unit_test(weighed),
		cmocka_unit_test(location),
		cmocka_unit_test(equal_numbers),
		cmocka_unit_test(cosines),
		cmocka_unit_test(cosines_of_long_series),
		cmocka_unit_test(autocorrelation),
		cmocka_unit_test(student),
		cmocka_unit_test(student_is_the_integral),
		cmocka_unit_test(student_is_smooth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
