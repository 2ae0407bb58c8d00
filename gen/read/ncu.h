/* Reports of Nsight Compute as `ncu --csv` prints them: the details page (a row a number) and the raw page (a column a
 * number, with the units in the first row below the names). */
#ifndef GAPLINE_READ_NCU_H
#define GAPLINE_READ_NCU_H

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "trace/ncu.h"

/* Whether a file begins like a report that only ncu itself can read (.ncu-rep). */
bool ncu_is_packed(const struct file_head *head);

/* Reads the CSV behind `fd`; `path` is for messages. -1 with `err`: it is no such file, is cut off, or holds no kernel.
 */
int ncu_read(int fd, const char *path, struct names *names, struct arena *arena, struct ncu_report *report,
             struct err *err);

/* ---- inside (ncu_value.c) ---- */

/* How a file writes numbers, by counting what can be told: "20,940.45", "1.234.567", "0.27". */
struct ncu_style {
	int64_t point, comma; /* values in which this one stands before decimals */
};
void ncu_style_note(struct ncu_style *style, const char *text);

/* A number in that style; NAN: none ("n/a", "(!) nan", "CachePreferNone"). */
double ncu_value(const struct ncu_style *style, const char *text);

/* What a value in this unit is multiplied with: times become ns, bytes and rates their plain unit: "Kbyte/second",
 * "us", "Ghz", "cycle/nsecond". NAN: not a unit of that kind. */
enum ncu_kind { NCU_PLAIN, NCU_PERCENT, NCU_TIME, NCU_RATE, NCU_FREQUENCY, NCU_BYTES };
double ncu_unit(const char *unit, enum ncu_kind kind);

#endif
