#include "analyse/judge/ncu_words.h"

#include <math.h>

static const struct {
	const char *name, *label;
} BOUNDS[] = {
	[BOUND_UNKNOWN] = {"unknown", "not known what bounds it"},
	[BOUND_MEMORY] = {"memory", "memory-bound"},
	[BOUND_COMPUTE] = {"compute", "compute-bound"},
	[BOUND_BOTH] = {"both", "bound by memory and SMs alike"},
	[BOUND_LATENCY] = {"latency", "latency-bound"},
};

const char *kernel_bound_name(enum kernel_bound bound)
{
	return BOUNDS[bound].name;
}

static const char *kernel_bound_label(enum kernel_bound bound)
{
	return BOUNDS[bound].label;
}

static const struct {
	const char *name, *label, *meaning, *help;
} STALLS[NCU_STALLS] = {
	[NCU_LONG_SCOREBOARD] = {"long_scoreboard", "long scoreboard", "waits for global, local or texture memory",
                                 "more loads in flight (unrolling, more warps), neighbouring threads on neighbouring "
                                 "addresses, data used again kept in shared memory"},
	[NCU_SHORT_SCOREBOARD] = {"short_scoreboard", "short scoreboard",
                                  "waits for shared memory or special functions",
                                  "fewer bank conflicts and special functions, shared memory read in wider pieces"},
	[NCU_BARRIER] = {"barrier", "barrier", "waits for other warps of its block",
                         "the same work for every warp between barriers, smaller blocks, fewer barriers"},
	[NCU_MEMBAR] = {"membar", "membar", "waits for a memory fence", "fewer or narrower fences"},
	[NCU_MATH_PIPE] = {"math_pipe_throttle", "math pipe throttle", "the arithmetic pipe is full",
                           "tensor cores or lower precision, fewer instructions, a better mix of pipes"},
	[NCU_MIO_THROTTLE] = {"mio_throttle", "MIO throttle", "shared memory's instruction queue is full",
                              "fewer and wider accesses to shared memory"},
	[NCU_LG_THROTTLE] = {"lg_throttle", "LG throttle", "global memory's instruction queue is full",
                             "fewer and wider accesses (float4), no spilled registers"},
	[NCU_TEX_THROTTLE] = {"tex_throttle", "TEX throttle", "the texture queue is full",
                              "fewer texture accesses, or plain loads instead"},
	[NCU_WAIT] = {"wait", "wait", "waits a fixed time for an instruction before",
                      "more independent instructions a thread, or more warps"},
	[NCU_NOT_SELECTED] = {"not_selected", "not selected", "was ready, and another warp issued",
                              "nothing: there are warps enough; larger tiles a thread may use them better"},
	[NCU_DISPATCH] = {"dispatch_stall", "dispatch stall", "the dispatcher held it back",
                          "fewer conflicts between register accesses and pipes"},
	[NCU_DRAIN] = {"drain", "drain", "waits at its end for stores", "fewer, wider and coalesced stores at the end"},
	[NCU_SLEEPING] = {"sleeping", "sleeping", "sleeps, as it asked to", "shorter sleeps"},
	[NCU_BRANCH] = {"branch_resolving", "branch resolving", "waits for a branch", "fewer branches, unrolled loops"},
	[NCU_NO_INSTRUCTION] = {"no_instruction", "no instruction", "waits for its next instruction",
                                "smaller code, less unrolling, more warps"},
	[NCU_IMC_MISS] = {"imc_miss", "IMC miss", "waits for constants",
                          "constants at the same address in all threads of a warp, or in registers"},
	[NCU_GMMA] = {"gmma", "GMMA", "waits for tensor cores", "more stages in flight, larger tiles"},
	[NCU_MISC] = {"misc", "misc", "for another reason", "a look at the source page of the report"},
};

const char *kernel_stall_name(enum ncu_stall stall)
{
	return STALLS[stall].name;
}

const char *kernel_stall_label(enum ncu_stall stall)
{
	return STALLS[stall].label;
}

static const char *kernel_stall_meaning(enum ncu_stall stall)
{
	return STALLS[stall].meaning;
}

const char *kernel_limit_label(enum ncu_number limit)
{
	switch (limit) {
	case NCU_BY_REGISTERS:
		return "registers";
	case NCU_BY_SHARED:
		return "shared memory";
	case NCU_BY_WARPS:
		return "warps a block";
	case NCU_BY_BLOCKS:
		return "blocks an SM";
	case NCU_BY_BARRIERS:
		return "barriers";
	case NCU_WAVES:
		return "the grid";
	default:
		return NULL;
	}
}

/* ---- sentences ---- */

/* What warps wait for; that others issued meanwhile is no wait to look at. */
static const struct kernel_stall *top_stall(const struct kernel_inside *k)
{
	for (uint32_t i = 0; i < k->n_stalls; i++)
		if (k->stall[i].stall != NCU_NOT_SELECTED)
			return &k->stall[i];
	return NULL;
}

static const char *state_of(const struct kernel_inside *k, struct arena *arena)
{
	const double *v = k->value;
	const char *text = kernel_bound_label(k->bound);
	if (k->bound != BOUND_UNKNOWN)
		text = arena_format(arena, "%s (SMs %.1f %%, memory %.1f %% of their peak)", text, v[NCU_SM],
		                    v[NCU_MEMORY]);
	if (!isnan(v[NCU_OCCUPANCY])) {
		text = arena_format(arena, "%s; occupancy %.1f %%", text, v[NCU_OCCUPANCY]);
		if (!isnan(v[NCU_OCCUPANCY_MOST]))
			text = arena_format(arena, "%s of at most %.1f %%", text, v[NCU_OCCUPANCY_MOST]);
		if (k->limit == NCU_WAVES)
			text = arena_format(arena, "%s, and the grid fills %.0f %% of the GPU", text,
			                    100 * v[NCU_WAVES]);
		else if (kernel_limit_label(k->limit))
			text = arena_format(arena, "%s, limited by %s", text, kernel_limit_label(k->limit));
	}
	const struct kernel_stall *stall = top_stall(k);
	if (stall)
		text = arena_format(arena, "%s; warps stall on %s (%.0f %%): each %s", text,
		                    kernel_stall_label(stall->stall), 100 * stall->share,
		                    kernel_stall_meaning(stall->stall));
	return text;
}

/* What the memory's time goes to. */
static const char *memory_help(const struct kernel_inside *k)
{
	const double *v = k->value;
	if (!isnan(v[NCU_DRAM]) && v[NCU_DRAM] >= v[NCU_MEMORY] - 5)
		return "Move fewer bytes through DRAM: fuse it with its neighbours, use smaller types, keep data that "
		       "is used again in shared memory or registers.";
	if (!isnan(v[NCU_L2]) && v[NCU_L2] >= v[NCU_MEMORY] - 5)
		return "Its traffic stops at L2: let blocks reuse what they load (tiles in shared memory), and "
		       "neighbouring threads read neighbouring addresses.";
	return "Its traffic is between the SM and L1 or shared memory: wider accesses, fewer bank conflicts, more "
	       "reuse in registers.";
}

static const char *occupancy_help(const struct kernel_inside *k, struct arena *arena)
{
	const double *v = k->value;
	if (k->limit == NCU_WAVES)
		return " Its grid is too small for the GPU: more blocks, or work beside it on another stream.";
	if (k->bound != BOUND_LATENCY || isnan(v[NCU_OCCUPANCY]) || v[NCU_OCCUPANCY] > 50)
		return "";
	if (k->limit == NCU_BY_REGISTERS)
		return arena_format(arena, " Fewer registers a thread (%.0f) would let more warps run.",
		                    v[NCU_REGISTERS]);
	if (k->limit == NCU_BY_SHARED)
		return " Less shared memory a block would let more warps run.";
	return "";
}

static const char *advice_for(const struct kernel_inside *k, struct arena *arena)
{
	const struct kernel_stall *stall = top_stall(k);
	const char *first = "";
	switch (k->bound) {
	case BOUND_MEMORY:
		first = memory_help(k);
		break;
	case BOUND_COMPUTE:
		first = "Give the SMs less to do: tensor cores or lower precision, fewer instructions, work that is "
			"done twice done once.";
		break;
	case BOUND_BOTH:
		first = "It uses both well: only an algorithm that does less gets much faster.";
		break;
	case BOUND_LATENCY:
		first = stall ? ""
		              : "Neither memory nor SMs are near their peak: more work in flight (warps, loads a "
		                "thread). Its stalls say on what it waits: measure them with --section WarpStateStats.";
		break;
	case BOUND_UNKNOWN:
		first = "Measure its speed of light: --section SpeedOfLight.";
		break;
	}
	const char *text = first;
	if (stall && k->bound != BOUND_BOTH)
		text = arena_format(arena, "%s%sAgainst %s: %s.", text, *text ? " " : "",
		                    kernel_stall_label(stall->stall), STALLS[stall->stall].help);
	return arena_format(arena, "%s%s", text, occupancy_help(k, arena));
}

void ncu_words(struct kernel_pair *pair, struct arena *arena)
{
	const struct kernel_inside *b = &pair->side[0], *f = &pair->side[1], *now = f->launches ? f : b;
	pair->text = b->launches && f->launches
	                     ? arena_format(arena, "Baseline: %s. Fixed: %s.", state_of(b, arena), state_of(f, arena))
	                     : arena_format(arena, "%s.", state_of(now, arena));
	pair->advice = advice_for(now, arena);
}
