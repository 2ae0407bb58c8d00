/* How far a long piece of work is, told by the code that does it to whoever wants to show it; what is shown, and
 * whether, is not its business. A meter may be a part of another one. Any thread may add to one that another thread
 * looks at.
 *
 * All functions take NULL for a meter nobody looks at. */
#ifndef GAPLINE_BASE_METER_H
#define GAPLINE_BASE_METER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct meter {
	_Atomic int64_t done;
	int64_t of;           /* what makes it full, in any unit: bytes, rows */
	struct meter *parent; /* NULL: none */
	int64_t weight;       /* of the whole of this one, in the parent's unit */
};

/* `n` more are done; what is more than `of` is not counted. */
static inline void meter_add(struct meter *meter, int64_t n)
{
	while (meter && n > 0) {
		int64_t before = atomic_fetch_add(&meter->done, n), after = before + n;
		before = before < meter->of ? before : meter->of;
		after = after < meter->of ? after : meter->of;
		if (!meter->parent || after == before)
			return;
		double share = (double)meter->weight / (double)meter->of;
		n = (int64_t)((double)after * share) - (int64_t)((double)before * share);
		meter = meter->parent;
	}
}

/* It is done, whatever was not needed included. */
static inline void meter_fill(struct meter *meter)
{
	if (meter)
		meter_add(meter, meter->of - atomic_load(&meter->done));
}

/* From 0 to 1. */
static inline double meter_part(struct meter *meter)
{
	int64_t done = atomic_load(&meter->done);
	return done >= meter->of ? 1 : (double)done / (double)meter->of;
}

#endif
