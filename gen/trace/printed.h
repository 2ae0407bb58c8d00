/* Numbers that programs printed in their runs, in order: losses, checksums, residuals. Beside the traces of a
 * comparison; read by read/printed.h. */
#ifndef GAPLINE_TRACE_PRINTED_H
#define GAPLINE_TRACE_PRINTED_H

#include <stddef.h>

struct printed_run {
	const char *file; /* a name, harmless */
	const double *number;
	size_t n;
};

struct printed {
	const char *pattern;              /* as asked for, harmless; NULL: nothing was asked */
	double tolerance;                 /* relative */
	const struct printed_run *run[2]; /* by side */
	size_t n[2];
};

#endif
