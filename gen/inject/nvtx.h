/* NVTX: what a program's annotations say becomes events of the spool. */
#ifndef GAPLINE_INJECT_NVTX_H
#define GAPLINE_INJECT_NVTX_H

/* Fills the function tables of one copy of NVTX; a process may hold several (NVTX 3 is in headers, NVTX 2 a library),
 * and what they hand out is of one numbering. `get_table` is what InitializeInjectionNvtx2 is given. 1: done, 0: this
 * NVTX is not of a kind that we know. */
int nvtx_inject(const void *(*get_table)(unsigned table));

#endif
