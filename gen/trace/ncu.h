/* What Nsight Compute measured of single kernel launches: plain data, beside a trace. A number that a report does not
 * hold is NAN. Names are ids of the names that it was read with. */
#ifndef GAPLINE_TRACE_NCU_H
#define GAPLINE_TRACE_NCU_H

#include "trace/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ncu_number {
	NCU_DURATION, /* ns */
	NCU_SM,       /* speed of light, percent of peak: of the SMs … */
	NCU_MEMORY,   /* … of all memory together … */
	NCU_DRAM,     /* … of DRAM, L1 and L2 alone */
	NCU_L1,
	NCU_L2,
	NCU_OCCUPANCY,      /* achieved, percent of the warps that an SM can hold */
	NCU_OCCUPANCY_MOST, /* what the launch allows */
	NCU_BY_REGISTERS,   /* blocks that an SM can hold at most, for each thing that limits them */
	NCU_BY_SHARED,
	NCU_BY_WARPS,
	NCU_BY_BLOCKS,
	NCU_BY_BARRIERS,
	NCU_REGISTERS, /* a thread */
	NCU_WAVES,     /* blocks launched over blocks that all SMs can hold at a time */
	NCU_DRAM_RATE, /* bytes a second … */
	NCU_DRAM_READ_RATE,
	NCU_DRAM_WRITE_RATE,
	NCU_DRAM_CYCLE, /* … and, at most, bytes a cycle */
	NCU_DRAM_CLOCK, /* Hz */
	NCU_FADD,       /* instructions of threads a cycle, single precision … */
	NCU_FMUL,
	NCU_FFMA,
	NCU_FFMA_CYCLE, /* … and at most */
	NCU_DADD,       /* the same in double precision */
	NCU_DMUL,
	NCU_DFMA,
	NCU_DFMA_CYCLE,
	NCU_CLOCK, /* Hz: what those cycles are of */
	NCU_NUMBERS
};

/* Why a warp did not issue an instruction; the profiler's words. */
enum ncu_stall {
	NCU_LONG_SCOREBOARD,
	NCU_SHORT_SCOREBOARD,
	NCU_BARRIER,
	NCU_MEMBAR,
	NCU_MATH_PIPE,
	NCU_MIO_THROTTLE,
	NCU_LG_THROTTLE,
	NCU_TEX_THROTTLE,
	NCU_WAIT,
	NCU_NOT_SELECTED,
	NCU_DISPATCH,
	NCU_DRAIN,
	NCU_SLEEPING,
	NCU_BRANCH,
	NCU_NO_INSTRUCTION,
	NCU_IMC_MISS,
	NCU_GMMA,
	NCU_MISC,
	NCU_STALLS
};

enum { NCU_RULES = 4 };

struct ncu_launch {
	uint32_t name;  /* the kernel's, as the report prints it */
	uint64_t shape; /* trace_shape of grid and block; 0: not said */
	int64_t grid[3], block[3];
	double value[NCU_NUMBERS];
	double stall[NCU_STALLS];  /* cycles an issued instruction, or samples: only their ratios mean anything */
	bool has_stalls, measured; /* some; and they are cycles */
	uint32_t rule[NCU_RULES]; /* what Nsight Compute itself advises, names; those with a higher estimate first … */
	double gain[NCU_RULES];   /* … percent; NAN: no estimate */
	uint32_t n_rules;
};

struct ncu_report {
	struct ncu_launch *launch;
	size_t n;
};

#endif
