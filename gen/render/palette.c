#include "render/pictures.h"

#include "say/say.h"

#define SOLID(name, colour, ink)                                                                                       \
	{                                                                                                              \
		name, colour, colour, ink, NULL, false, NULL                                                           \
	}
#define MARKED(name, colour, path)                                                                                     \
	{                                                                                                              \
		name, "url(#" name ")", colour, "#111", NULL, false, path                                              \
	}
#define DOTS "M1 1h2v2h-2zM5 5h2v2h-2z"
#define UPRIGHT "M1 0h1.3v8h-1.3zM5 0h1.3v8h-1.3z"
#define LEVEL "M0 1h8v1.3h-8zM0 5h8v1.3h-8z"
#define GRID "M1 0h1.2v8h-1.2zM0 4h8v1.2h-8z"
#define DIAMONDS "M4 1l3 3-3 3-3-3z"
#define SLANTED "M0 1.5L1.5 0H0zM0 8L8 0v1.6L1.6 8z"
#define STRIPED(name, colour)                                                                                          \
	{                                                                                                              \
		name, "url(#" name ")", colour, "#111", NULL, true, NULL                                               \
	}

static const struct swatch causes[CAUSE_COUNT] = {
	[CAUSE_HOST_CODE] = SOLID("host-code", "#d55e00", "#111"),
	[CAUSE_HOST_BLOCKED] = MARKED("host-blocked", "#e69f00", SLANTED),
	[CAUSE_GIL] = STRIPED("gil", "#5b2be0"),
	[CAUSE_OFF_CPU] = STRIPED("off-cpu", "#d55e00"),
	[CAUSE_HANDOVER] = STRIPED("handover", "#e69f00"),
	[CAUSE_SYNC_RETURN] = MARKED("sync-return", "#cc79a7", DOTS),
	[CAUSE_COPY_API] = MARKED("copy-api", "#56b4e9", UPRIGHT),
	[CAUSE_LAUNCH_API] = SOLID("launch-api", "#f0e442", "#111"),
	[CAUSE_ALLOC] = MARKED("alloc", "#009e73", GRID),
	[CAUSE_MODULE_LOAD] = STRIPED("module-load", "#009e73"),
	[CAUSE_OTHER_API] = STRIPED("other-api", "#cc79a7"),
	[CAUSE_PROFILER] = STRIPED("profiler", "#777777"),
	[CAUSE_LAUNCH_LATENCY] = STRIPED("launch-latency", "#0072b2"),
	[CAUSE_DISPATCH] = SOLID("dispatch", "#0072b2", "#fff"),
	[CAUSE_DEPENDENCY] = SOLID("dependency", "#882255", "#fff"),
	[CAUSE_LATE_START] = MARKED("late-start", "#ddcc77", LEVEL),
	[CAUSE_MANAGED_MEMORY] = STRIPED("managed-memory", "#56b4e9"),
	[CAUSE_BUBBLE] = STRIPED("bubble", "#332288"),
	[CAUSE_OTHER_PROCESS] = STRIPED("other-process", "#882255"),
	[CAUSE_UNATTRIBUTED] = MARKED("unattributed", "#999999", DIAMONDS),
};

static const struct swatch shades[SHADE_COUNT - CAUSE_COUNT] = {
	[SHADE_COMPUTE - CAUSE_COUNT] = {"compute", "#9fadbb", "#9fadbb", "#111", "compute", false, NULL},
	[SHADE_COMM - CAUSE_COUNT] = {"comm", "url(#comm)", "#5b6b7b", "#111", "comm", true, NULL},
	[SHADE_COPY - CAUSE_COUNT] = {"copy", "#66788a", "#66788a", "#fff", "copy", false, NULL},
	[SHADE_IDLE - CAUSE_COUNT] = {"idle", "#eeb490", "#eeb490", "#111", "idle", false, NULL},
	[SHADE_CALL - CAUSE_COUNT] = {"call", "#ccd5dd", "#ccd5dd", "#111", "call", false, NULL},
	[SHADE_WAIT - CAUSE_COUNT] = {"wait", "url(#wait)", "#c3ccd5", "#111", "wait", true, NULL},
	[SHADE_PHASE_A - CAUSE_COUNT] = {"phase-a", "#e3e8ed", "#e3e8ed", "#111", "phase", false, NULL},
	[SHADE_PHASE_B - CAUSE_COUNT] = {"phase-b", "#d0d8e0", "#d0d8e0", "#111", "phase", false, NULL},
	[SHADE_RECORDING - CAUSE_COUNT] = {"recording", "url(#recording)", "#777777", "#111", "recording", true, NULL},
	[SHADE_FIRST_LAUNCH -
		CAUSE_COUNT] = {"first-launch", "url(#first-launch)", "#b8a800", "#111", "first_launches", true, NULL},
	[SHADE_SEARCH -
		CAUSE_COUNT] = {"kernel-search", "url(#kernel-search)", "#ddcc77", "#111", "kernel_search", true, NULL},
};

const struct swatch *palette(int which)
{
	return which < CAUSE_COUNT ? &causes[which] : &shades[which - CAUSE_COUNT];
}

const char *palette_label(int which)
{
	return which < CAUSE_COUNT ? cause_label((enum cause)which) : say_word(WORDS_shade, palette(which)->key);
}

int palette_of_op(enum op_kind kind)
{
	switch (kind) {
	case OP_COMM:
		return SHADE_COMM;
	case OP_COPY:
	case OP_MEMSET:
		return SHADE_COPY;
	case OP_KERNEL:
	case OP_GRAPH:
		break;
	}
	return SHADE_COMPUTE;
}

int palette_of_startup(enum startup_part part)
{
	static const int which[STARTUP_PARTS] = {
		[STARTUP_BEFORE_CUDA] = SHADE_CALL,
		[STARTUP_CUDA_SETUP] = CAUSE_OTHER_API,
		[STARTUP_MODULE_LOAD] = CAUSE_MODULE_LOAD,
		[STARTUP_FIRST_LAUNCHES] = SHADE_FIRST_LAUNCH,
		[STARTUP_SEARCH] = SHADE_SEARCH,
		[STARTUP_ALLOC] = CAUSE_ALLOC,
		[STARTUP_COPY_API] = CAUSE_COPY_API,
		[STARTUP_LAUNCH_API] = CAUSE_LAUNCH_API,
		[STARTUP_SYNC] = CAUSE_SYNC_RETURN,
		[STARTUP_HOST_CODE] = CAUSE_HOST_CODE,
		[STARTUP_HOST_BLOCKED] = CAUSE_HOST_BLOCKED,
		[STARTUP_GIL] = CAUSE_GIL,
		[STARTUP_OFF_CPU] = CAUSE_OFF_CPU,
		[STARTUP_HANDOVER] = CAUSE_HANDOVER,
		[STARTUP_PROFILER] = CAUSE_PROFILER,
	};
	return which[part];
}

int palette_of_part(const struct waterfall_part *part)
{
	switch (part->kind) {
	case PART_COMPUTE:
		return SHADE_COMPUTE;
	case PART_COMM:
		return SHADE_COMM;
	case PART_COPY:
		return SHADE_COPY;
	case PART_IDLE:
		return (int)part->cause;
	case PART_RECORDING:
		return SHADE_RECORDING;
	case PART_UNUSUAL:
	case PART_OUTSIDE:
	case PART_OTHER:
	case PART_COUNT:
		break;
	}
	return SHADE_IDLE;
}
