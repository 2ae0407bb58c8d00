/* The options that all workloads share, so that one script can run any of them. */
#ifndef WORKLOADS_COMMON_OPTIONS_H
#define WORKLOADS_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct options {
	int variant;     /* --variant: index into the workload's variants, the baseline is 0 */
	int steps;       /* --steps: all of them, warm-up included */
	int warmup;      /* --warmup: leading steps that the program leaves out of its own timing */
	int size;        /* --size: what it means belongs to the workload */
	int batch;       /* --batch: samples a step; 0: the workload has no batches and no such option */
	double fault_ms; /* --fault-ms: size of the fault, milliseconds a step */
	int fault_work;  /* --fault-work: the same in the workload's own unit, which makes runs exactly alike; -1: unset
	                  */
	uint64_t seed;   /* --seed: of data and weights */
	bool neutral_names; /* --names neutral: phases are called a, b, c … */
};

/* How a workload describes itself in --help. */
struct options_text {
	const char *const *variants; /* NULL ends them; the baseline first */
	const char *size_means;      /* what --size is */
	const char *work_means;      /* the unit of --fault-work */
};

/* Fills `o`, which comes in holding the workload's defaults (variant and fault_work are set here). --help prints to
 * stdout and exits with 0; a wrong option prints to stderr and exits with EXIT_USAGE. */
void options_parse(struct options *o, const struct options_text *text, int argc, char **argv);

#endif
