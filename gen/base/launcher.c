#include "base/launcher.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const struct launcher_variable LAUNCHER[LAUNCHER_VARIABLES] = {
	{"RANK", LAUNCHER_RANK},
	{"OMPI_COMM_WORLD_RANK", LAUNCHER_RANK},
	{"PMIX_RANK", LAUNCHER_RANK},
	{"PMI_RANK", LAUNCHER_RANK},
	{"MV2_COMM_WORLD_RANK", LAUNCHER_RANK},
	{"SLURM_PROCID", LAUNCHER_RANK},
	{"WORLD_SIZE", LAUNCHER_RANKS},
	{"OMPI_COMM_WORLD_SIZE", LAUNCHER_RANKS},
	{"PMI_SIZE", LAUNCHER_RANKS},
	{"MV2_COMM_WORLD_SIZE", LAUNCHER_RANKS},
	{"SLURM_NTASKS", LAUNCHER_RANKS},
	{"TORCHELASTIC_RUN_ID", LAUNCHER_JOB},
	{"PMIX_NAMESPACE", LAUNCHER_JOB},
	{"OMPI_MCA_ess_base_jobid", LAUNCHER_JOB},
	{"SLURM_JOB_ID", LAUNCHER_JOB},
};

bool launcher_in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool launcher_in_value(char c)
{
	return c && (launcher_in_name(c) || strchr(".-:@", c));
}

const char *launcher_value(const struct launcher_variable *variable)
{
	const char *value = getenv(variable->name);
	size_t n = 0;
	while (value && launcher_in_value(value[n]))
		n++;
	return value && n && !value[n] && n <= LAUNCHER_VALUE_MAX ? value : NULL;
}
