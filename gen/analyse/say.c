#include "analyse/say.h"

#include "base/format.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void say_add(struct sentences *s, struct arena *arena, const char *sentence)
{
	s->list = arena_grow(arena, s->list, s->n, s->n + 1, sizeof *s->list);
	s->list[s->n++] = sentence;
}

const char *say_digits(struct arena *arena, double value)
{
	double size = fabs(value);
	if (size > 0 && size < 0.001)
		return "<0.001";
	return arena_format(arena, size >= 999.5 ? "%.0f" : "%.3g", value);
}

const char *say_ordinal(struct arena *arena, size_t n)
{
	static const char *const ending[] = {"th", "st", "nd", "rd"};
	size_t last = n % 10;
	return arena_format(arena, "%zu%s", n, ending[last > 3 || (n % 100 > 10 && n % 100 < 14) ? 0 : last]);
}

void say_gpu(struct say_gpus *s, struct arena *arena, const struct names *names, const struct trace_gpu *gpu)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->said[i]->name == gpu->name && s->said[i]->clock_hz == gpu->clock_hz)
			return;
	s->said = arena_grow(arena, s->said, s->n, s->n + 1, sizeof *s->said);
	s->said[s->n++] = gpu;
	const char *name = names_text(names, gpu->name);
	if (gpu->clock_hz)
		name = arena_format(arena, "%s at up to %.0f MHz", name, (double)gpu->clock_hz / 1e6);
	s->text = *s->text ? arena_format(arena, "%s, %s", s->text, name) : name;
}

const char *say_count(struct arena *arena, double count)
{
	bool whole = fabs(count - round(count)) < 1e-6 * fmax(1, fabs(count));
	return arena_format(arena, whole ? "%.0f" : "%.2f", count);
}

const char *say_times(struct arena *arena, double count)
{
	static const char *const FEW[] = {"not at all", "once", "twice"};
	for (int i = 0; i < 3; i++)
		if (fabs(count - i) < 1e-6)
			return FEW[i];
	return arena_format(arena, "%s times", say_count(arena, count));
}

const char *say_bytes(struct arena *arena, double bytes)
{
	if (bytes < 1e3)
		return arena_format(arena, "%s %s", say_digits(arena, bytes), bytes == 1 ? "byte" : "bytes");
	if (bytes < 1e6)
		return arena_format(arena, "%.4g kB", bytes / 1e3);
	return arena_format(arena, bytes < 1e9 ? "%.4g MB" : "%.0f MB", bytes / 1e6);
}

const char *say_short(struct arena *arena, const char *name)
{
	size_t n = strlen(name), keep = 48;
	if (n <= keep + 1)
		return name;
	while (keep && ((unsigned char)name[keep] & 0xc0) == 0x80) /* not inside a character */
		keep--;
	return arena_format(arena, "%.*s…", (int)keep, name);
}

const char *say_rank(const struct side *side, uint32_t device, struct arena *arena)
{
	const struct device_result *d = &side->devices[device];
	uint32_t of_rank = 0;
	for (uint32_t i = 0; i < side->n_devices; i++)
		of_rank += side->devices[i].rank == d->rank;
	if (d->rank < 0)
		return arena_format(arena, "device %u of process %lld", d->ordinal, (long long)d->process);
	return of_rank > 1 ? arena_format(arena, "rank %d, device %u", d->rank, d->ordinal)
	                   : arena_format(arena, "rank %d", d->rank);
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
