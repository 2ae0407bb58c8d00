/* How fast the GPUs ran: samples of clocks, power and temperature, and what held the clocks back. */
#ifndef GAPLINE_ANALYSE_SIDE_CLOCKS_H
#define GAPLINE_ANALYSE_SIDE_CLOCKS_H

#include "analyse/run/run.h"
#include "analyse/side_result.h"

/* The clocks of a device of the side. */
struct clocks clocks_of_device(const struct run *runs, size_t n, uint32_t d);

/* A sentence when of one of `n` devices samples lie beside the measured time only, else NULL. */
const struct fact *clocks_note(const struct device_result *devices, uint32_t n, struct arena *arena);

#endif
