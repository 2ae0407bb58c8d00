/* The environment variables with which launchers of parallel jobs tell a process its place: torchrun, OpenMPI, PMIx,
 * MPICH and Intel MPI, MVAPICH2, Slurm (an array job's tasks are jobs of their own). */
#ifndef GAPLINE_BASE_LAUNCHER_H
#define GAPLINE_BASE_LAUNCHER_H

#include <stdbool.h>

enum launcher_use {
	LAUNCHER_RANK,  /* the process's number in the job */
	LAUNCHER_RANKS, /* how many processes the job has */
	LAUNCHER_JOB    /* what the launcher calls the job */
};

struct launcher_variable {
	const char *name;
	enum launcher_use use;
};

/* Of several of one use the first that is set counts. */
enum { LAUNCHER_VARIABLES = 15, LAUNCHER_VALUE_MAX = 128 };
extern const struct launcher_variable LAUNCHER[LAUNCHER_VARIABLES];

/* Whether a character stands in a variable's name, and whether in a value that is used. */
bool launcher_in_name(char c);
bool launcher_in_value(char c);

/* What this process's environment says: the value, or NULL where it is not set, or is nothing that a launcher sets. */
const char *launcher_value(const struct launcher_variable *variable);

#endif
