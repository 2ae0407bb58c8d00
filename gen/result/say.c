#include "result/say.h"

#include "base/format.h"
#include "base/list.h"
#include "say/say.h"

void say_gpu(struct say_gpus *s, struct arena *arena, const struct names *names, const struct trace_gpu *gpu)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->said[i]->name == gpu->name && s->said[i]->clock_hz == gpu->clock_hz)
			return;
	LIST_PUT(arena, s->said, s->n, gpu);
	const char *name = names_text(names, gpu->name);
	if (gpu->clock_hz)
		name = arena_format(arena, "%s at up to %.0f MHz", name, (double)gpu->clock_hz / 1e6);
	s->text = *s->text ? arena_format(arena, "%s, %s", s->text, name) : name;
}

const char *say_rank(const struct side *side, uint32_t device, struct arena *arena)
{
	const struct device_result *d = &side->devices[device];
	uint32_t of_rank = 0;
	for (uint32_t i = 0; i < side->n_devices; i++)
		of_rank += side->devices[i].rank == d->rank;
	return SAY(NULL, arena, device_is, .rank = d->rank < 0 ? FACT_UNKNOWN : d->rank, .comma = d->rank >= 0,
	           .ordinal = d->rank < 0 || of_rank > 1 ? d->ordinal : FACT_UNKNOWN,
	           .process = d->rank < 0 ? d->process : FACT_UNKNOWN);
}

const char *say_function(const struct names *names, const struct sampled_function *f, unsigned most,
                         struct arena *arena)
{
	switch (f->kind) {
	case FRAME_NAMED:
		return format_kernel(arena, names_text(names, f->name), most);
	case FRAME_MODULE:
		return arena_format(arena, "%s (no symbols)", format_name(arena, names_text(names, f->module), most));
	case FRAME_BROKEN:
		return "(callers unknown)";
	case FRAME_CUT:
		return "(callers too deep)";
	case FRAME_UNKNOWN:
		break;
	}
	return "(unknown)";
}
