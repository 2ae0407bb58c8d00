/* The same program twice. See README.md. */
#include "../common/pair.h"

static void step(struct run *run, int i)
{
	run_simulate(run);
	run_read(run, i);
}

static const struct pair pair = {
	.name = "no-change",
	.text = {(const char *const[]){"baseline", "fixed", NULL}, "sweeps of the simulation a step",
                 "nothing: there is no fault"},
	.defaults = {.steps = 60, .warmup = 10, .size = 12, .fault_ms = 0, .seed = 1},
	.step = {step, step},
};
PAIR_MAIN(pair)
