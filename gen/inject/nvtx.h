/* NVTX: what a program's annotations say becomes events of the spool. */
#ifndef GAPLINE_INJECT_NVTX_H
#define GAPLINE_INJECT_NVTX_H

#include <stddef.h>
#include <stdint.h>

/* Fills the function tables of one copy of NVTX; a process may hold several (NVTX 3 is in headers, NVTX 2 a library),
 * and what they hand out is of one numbering. `get_table` is what InitializeInjectionNvtx2 is given. 1: done, 0: this
 * NVTX is not of a kind that we know. */
int nvtx_inject(const void *(*get_table)(unsigned table));

/* ---- for nvtx_payload.c ---- */

struct payload_data;

/* Handles are numbers: NVTX never looks behind them. The default domain is NULL. */
static inline uint32_t nvtx_number(const void *handle)
{
	return (uint32_t)(uintptr_t)handle;
}

/* What NVTX's functions for ranges do and return; the first two are of ranges without a text, with payloads. */
int nvtx_push_payloads(uint32_t domain, const struct payload_data *data, size_t n);
uint64_t nvtx_start_payloads(uint32_t domain, const struct payload_data *data, size_t n);
int nvtx_pop(uint32_t domain);
void nvtx_stop(uint32_t domain, uint64_t range);

/* Payloads of the range `range`, 0: of the innermost one of the calling thread and the domain. Those that are too large
 * or of an unknown size are left out. */
void nvtx_put_payloads(uint32_t domain, uint64_t range, const struct payload_data *data, size_t n);

#endif
