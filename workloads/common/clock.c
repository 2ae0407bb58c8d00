#include "clock.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double clock_median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), by_value);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double clock_deviation(const double *values, int n)
{
	double mean = 0, squares = 0;

	for (int i = 0; i < n; i++)
		mean += values[i] / n;
	for (int i = 0; i < n; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return n < 2 ? 0 : sqrt(squares / (n - 1));
}
