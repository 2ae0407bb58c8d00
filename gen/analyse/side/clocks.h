/* How fast the GPUs ran: samples of clocks, power and temperature, and what held the clocks back. */
#ifndef GAPLINE_ANALYSE_SIDE_CLOCKS_H
#define GAPLINE_ANALYSE_SIDE_CLOCKS_H

#include "analyse/run/run.h"

/* Clocks of the side's devices, which are there already, and a sentence when samples lie beside the measured
 * time only, else NULL. */
void clocks_build(const struct run *runs, size_t n, struct side *side);
const char *clocks_note(const struct side *side);

#endif
