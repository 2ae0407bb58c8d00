#include "capture/doctor.h"

void doctor_say(struct doctor *d, enum doctor_level level, const char *what, const char *text, const char *advice)
{
	d->lines = arena_grow(d->arena, d->lines, d->n, d->n + 1, sizeof *d->lines);
	d->lines[d->n++] = (struct doctor_line){level, what, text, advice};
}

void doctor_examine(const struct doctor_places *places, struct arena *arena, struct doctor *out)
{
	*out = (struct doctor){.arena = arena, .container = ""};
	doctor_container(out, places);
	doctor_driver(out, places);
	doctor_gpus(out, places);
	doctor_collectors(out);
	doctor_permissions(out, places);
}
