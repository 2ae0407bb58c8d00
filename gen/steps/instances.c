#include "steps/steps_build.h"

#include "base/numbers.h"

/* What an instance is, as bits. LIKE: it is of the thread and lane of the one before. */
enum { CUT = 1, OTHER_START = 2, OPENS = 4, WORKS = 8, LIKE = 16 };

/* Of counts, the last bits are most often 0. */
static void put_count(struct buf *to, float count)
{
	uint32_t bits;
	memcpy(&bits, &count, sizeof bits);
	number_put(to, __builtin_bswap32(bits));
}

static float take_count(struct taken *from)
{
	uint32_t bits = __builtin_bswap32((uint32_t)number_take(from));
	float count;
	memcpy(&count, &bits, sizeof count);
	return count;
}

void instances_pack(const struct steps_build *b, struct arena *arena, struct steps_part *out)
{
	BUF_LOCAL(bytes);
	int64_t before = 0;
	for (uint32_t p = 0; p < b->marks->n; p++) {
		const struct instance *x = steps_instance(b, p), *last = p ? steps_instance(b, p - 1) : NULL;
		const bool works = b->own_end[p] != INT64_MIN;
		const bool like = last && x->thread == last->thread && x->process == last->process &&
		                  b->lane[p] == b->lane[p - 1];
		number_put(&bytes, (x->cut ? CUT : 0) | (x->other_start ? OTHER_START : 0) | (x->opens ? OPENS : 0) |
		                           (works ? WORKS : 0) | (like ? LIKE : 0));
		if (!like) {
			number_put(&bytes, x->process);
			number_put(&bytes, x->thread);
			number_put(&bytes, b->lane[p]);
		}
		number_put_signed(&bytes, x->start - before);
		number_put_signed(&bytes, x->end - x->start);
		before = x->end;
		if (works) {
			number_put_signed(&bytes, b->own_start[p] - x->start);
			number_put_signed(&bytes, b->own_end[p] - b->own_start[p]);
			number_put(&bytes, (uint64_t)b->own_time[p]); /* whole nanoseconds */
			put_count(&bytes, b->own_work[p].kernels);
			put_count(&bytes, b->own_work[p].blocks);
		}
	}
	out->n = b->marks->n;
	out->n_bytes = bytes.n;
	out->bytes = arena_keep(arena, bytes.data, bytes.n, 1);
}

void instances_unpack(const struct steps_part *part, uint32_t at, uint32_t first_lane, struct steps_build *to)
{
	struct taken bytes = number_open(part->bytes, part->n_bytes);
	struct instance like = {.step = TRACE_NONE};
	int64_t before = 0;
	uint32_t lane = 0;
	for (uint32_t p = at; p < at + part->n; p++) {
		const uint64_t bits = number_take(&bytes);
		if (!(bits & LIKE)) {
			like.process = part->first_process + (uint32_t)number_take(&bytes);
			like.thread = part->first_thread + (uint32_t)number_take(&bytes);
			lane = first_lane + (uint32_t)number_take(&bytes);
		}
		struct instance *x = &to->marks->instance[p];
		*x = like;
		x->cut = bits & CUT;
		x->other_start = bits & OTHER_START;
		x->opens = bits & OPENS;
		x->start = before + number_take_signed(&bytes);
		x->end = before = x->start + number_take_signed(&bytes);
		const bool works = bits & WORKS;
		to->lane[p] = lane;
		to->own_start[p] = works ? x->start + number_take_signed(&bytes) : INT64_MAX;
		to->own_end[p] = works ? to->own_start[p] + number_take_signed(&bytes) : INT64_MIN;
		to->own_time[p] = works ? (double)number_take(&bytes) : 0;
		to->own_work[p].kernels = works ? take_count(&bytes) : 0;
		to->own_work[p].blocks = works ? take_count(&bytes) : 0;
	}
}
