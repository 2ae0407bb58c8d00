/* The options that all workloads share, so that one script can run any of them. */
#ifndef WORKLOADS_COMMON_OPTIONS_H
#define WORKLOADS_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct options {
	bool fixed;      /* --variant fixed; false: baseline */
	int steps;       /* --steps: all of them, warm-up included */
	int warmup;      /* --warmup: leading steps that the program leaves out of its own timing */
	int size;        /* --size: what it means belongs to the workload */
	int batch;       /* --batch: samples a step */
	double fault_ms; /* --fault-ms: size of the fault, milliseconds a step */
	int fault_work;  /* --fault-work: the same in the workload's own unit, which makes runs exactly alike; -1: unset
	                  */
	uint64_t seed;   /* --seed: of data and weights */
};

/* Fills `o`, which comes in holding the workload's defaults (fault_work is set here). `size_means` and `work_means` are
 * what
 * --help says of --size and --fault-work. --help prints
 * to stdout and exits with 0; a wrong option prints to stderr and exits with EXIT_USAGE. */
void options_parse(struct options *o, const char *size_means, const char *work_means, int argc, char **argv);

#endif
