/* What gapline itself knows of a capture, written into the profile beside the tables of nsys's layout, whichever
 * collector wrote those. Readers that do not know the tables ignore them.
 *
 *	GAPLINE_CAPTURE(name TEXT NOT NULL, value TEXT NOT NULL)
 *		gapline     version that captured: "0.1.0"
 *		collector   "cupti" or "nsys": what decides whether two profiles can be compared
 *		cupti       CUPTI's version, "13.0.1"; cupti only
 *		trace       what was asked for: "cuda,nvtx", "cuda,nvtx,osrt,py,native", …
 *		graphs      "graph" or "node"
 *		complete    "yes", or why not, as a sentence: "the program was killed by SIGKILL"
 *		dropped     records that were lost, as a number; absent: none
 *		dropped_events  of these, so many were of host threads: ranges, operating-system calls, samples; absent:
 *		            none, or not known
 *		launcher    process id of gapline itself between nsys and the program; what nsys says of that process
 *		            is not about the program. nsys only
 *		ranges_ns   what it took a step to add NVTX ranges to a PyTorch program (capture/python_ranges.h), by
 *		            the adding module's own clock; absent: none were added
 *		sample_ns   Python's frames were sampled (COMPOSITE_EVENTS, SAMPLING_CALLCHAINS) at this mean distance,
 *		            whatever their threads did; absent: they were not
 *		samples_torn  so many samples could not be read, as a number; absent: none
 *		begins      "program": the program was started at time 0 and recorded from there on; absent: recording
 *		            began later (a delay, a capture range), or it is not known when it began
 *		gpu_state   "NVML" or "none"
 *	GAPLINE_JOB(name TEXT NOT NULL, value TEXT NOT NULL)
 *		host        name of the host
 *		RANK, WORLD_SIZE, SLURM_JOB_ID … those of LAUNCHER's variables (base/launcher.h) that gapline's own
 *		            environment has, and with it the program's: under mpirun or srun they tell which rank
 *		            this is
 *	GAPLINE_RANK(globalPid INTEGER NOT NULL, rank INTEGER NOT NULL)
 *		The same of each process that was recorded, by its own environment: under torchrun, one a process; by
 *		gapline's own collector
 *	GAPLINE_GPU(gpu INTEGER NOT NULL, uuid TEXT, bus TEXT, name TEXT, max_sm_mhz INTEGER, others INTEGER)
 *		others      processes that used it before the program began; NULL: not known
 *	GAPLINE_GPU_STATE(time INTEGER NOT NULL, gpu INTEGER NOT NULL, sm_mhz INTEGER, memory_mhz INTEGER,
 *	                  power_mw INTEGER, temperature_c INTEGER, busy_percent INTEGER, throttle INTEGER)
 *		time        ns on the profile's own clock; elsewhere NULL: not known
 *	GAPLINE_GIL(start INTEGER NOT NULL, globalTid INTEGER NOT NULL, waits INTEGER NOT NULL, holder INTEGER,
 *	            sampleId INTEGER, switches INTEGER)
 *		A row for each sample of Python's frames of which it is known whether the thread waited for the global
 *		interpreter lock just then (1) or not (0); by their collector, of a thread in order of time.
 *		holder      global thread id of the thread that held the lock; NULL: none did, or it is not known
 *		sampleId    COMPOSITE_EVENTS.id of what the holder did then; NULL: it was not looked at
 *		switches    how often the lock had passed from one thread to another before; NULL: not known. If it is
 *		            the same at two looks, no thread that waited at the first one got it before the second
 *	GAPLINE_STOPWATCH(start INTEGER NOT NULL, time INTEGER, steps INTEGER NOT NULL, process INTEGER NOT NULL,
 *	                  unused TEXT, step TEXT, launches INTEGER)
 *		Other runs of the same program, taken in turns with this one, in which nothing was recorded
 *		(capture/stopwatch.h), a row each. `gapline run` puts all of a side into the side's first profile.
 *		start       UTC of its start, ns
 *		time        ns that the steps took; NULL: not known, for the reason `unused`, a clause
 *		steps       how many; 0: the program has none, and the time is the process's
 *		process     ns from the process's start to its end
 *		step        what a step is: a range's normalised name or a loop's title
 *		launches    where launches were counted instead of ranges: how many a process made in that time
 *	GAPLINE_ENERGY(start INTEGER NOT NULL, uuid TEXT NOT NULL, mj INTEGER NOT NULL)
 *		What each GPU used in the time of such a run (capture/gpu.h), a row each.
 *		start       that of its row of GAPLINE_STOPWATCH
 *		mj          millijoules; negative: not known, for one of the reasons ENERGY_… (trace.h) */
#ifndef GAPLINE_CAPTURE_ANNOTATE_H
#define GAPLINE_CAPTURE_ANNOTATE_H

#include "base/err.h"
#include "capture/gpu.h"

struct annotation {
	const char *version, *collector, *cupti, *trace, *graphs, *complete; /* NULL or "": no row */
	long long dropped, dropped_events, launcher;                         /* 0: no row */
	const char *host;                                                    /* likewise */
	const char *const
		*job;        /* values of LAUNCHER's variables, in that order, or NULL: gapline's own environment's */
	long long ranges_ns; /* 0: no row */
	bool from_start;     /* the program was started at time 0 and recorded from there on */
	long long sample_ns, samples_torn; /* 0: no row */
	const struct gpu_state *gpu_state;
	int64_t start_ns; /* CLOCK_MONOTONIC of the profile's time 0, for the samples */
};

/* Adds the tables to the profile at `path` in one transaction; no journal or other file stays beside it. 0, or -1 with
 * `err`, and then the profile is as it was. */
int annotate_profile(const char *path, const struct annotation *annotation, struct err *err);

struct annotation_stopwatch {
	int64_t start_utc_ns, ns, process_ns;
	uint32_t steps;
	const char *step;   /* NULL: there are none */
	uint32_t launches;  /* 0: ranges were counted */
	const char *unused; /* NULL: it is used */
	const char *energy; /* of each GPU (energy_text), or NULL */
	bool looked;        /* as in struct trace_stopwatch */
};

/* Puts `n` timed runs into the profile at `path`, instead of those that it had; as above. */
int annotate_stopwatch(const char *path, const struct annotation_stopwatch *runs, size_t n, struct err *err);

#endif
