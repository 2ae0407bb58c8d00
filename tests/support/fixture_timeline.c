#include "fixture_maker.h"

static void add_gaps(struct maker *m, struct device_lanes *lanes, const struct timeline *t)
{
	uint32_t most = lanes->streams[0].n_ops + 1;
	lanes->gaps = ARENA_NEW(m->arena, most, struct gap_span);
	lanes->pieces = ARENA_NEW(m->arena, most, struct gap_piece);
	int64_t busy_until = 0;
	for (uint32_t i = 0; i < lanes->streams[0].n_ops; i++) {
		const struct op_span *op = &lanes->streams[0].ops[i];
		if (op->start > busy_until) {
			enum cause cause = op->start - busy_until > 1000 * US ? CAUSE_HOST_CODE : CAUSE_DISPATCH;
			lanes->pieces[lanes->n_pieces] =
				(struct gap_piece){busy_until, op->start, cause, t->phases[0].name, 0};
			if (cause == CAUSE_DISPATCH)
				lanes->pieces[lanes->n_pieces].phase = op->phase;
			lanes->gaps[lanes->n_gaps++] =
				(struct gap_span){busy_until, op->start, OPENED_DRY, lanes->n_pieces++, 1};
		}
		busy_until = op->end > busy_until ? op->end : busy_until;
	}
}

void fixture_timeline(struct maker *m, struct side *s, uint32_t n_steps, const int64_t phase_us[4], uint32_t kernels)
{
	static const char *const name[] = {"data_load", "forward", "backward", "optimizer"};
	struct timeline *t = &s->timeline;
	int64_t step = (phase_us[0] + phase_us[1] + phase_us[2] + phase_us[3]) * US;
	*t = (struct timeline){.length = step * n_steps, .n_boundaries = n_steps + 1, .first_step = 12};
	t->boundary = ARENA_NEW(m->arena, n_steps + 1, int64_t);
	t->phases = ARENA_NEW(m->arena, 4 * (size_t)n_steps, struct span);
	t->n_calls = 1;
	t->calls = ARENA_NEW(m->arena, 1, struct call_lane);
	t->calls[0] = (struct call_lane){.thread_name = fixture_text(m, "python3"), .tid = 4242, .step_thread = true};
	t->calls[0].calls = ARENA_NEW(m->arena, (size_t)n_steps * kernels, struct call_span);
	t->n_devices = s->n_devices;
	t->devices = ARENA_NEW(m->arena, s->n_devices, struct device_lanes);
	for (uint32_t d = 0; d < s->n_devices; d++) {
		t->devices[d] = (struct device_lanes){.device = d, .n_streams = 2};
		t->devices[d].streams = ARENA_NEW(m->arena, 2, struct stream_lane);
		for (uint32_t k = 0; k < 2; k++) {
			t->devices[d].streams[k].stream = 7 + 6 * k;
			t->devices[d].streams[k].ops =
				ARENA_NEW(m->arena, (size_t)n_steps * kernels + 1, struct op_span);
		}
	}
	uint32_t kernel = fixture_text(m, "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n"),
		 copy = fixture_text(m, "[CUDA memcpy Host-to-Device]");
	uint32_t launch = fixture_text(m, "cudaLaunchKernel");
	for (uint32_t i = 0; i < n_steps; i++) {
		int64_t at = step * i;
		t->boundary[i + 1] = step * (i + 1);
		for (uint32_t p = 0; p < 4; p++) {
			int64_t end = at + phase_us[p] * US;
			uint32_t phase = fixture_text(m, name[p]), n = p == 0 ? 0 : kernels / 3;
			t->phases[t->n_phases++] = (struct span){at, end, phase};
			for (uint32_t k = 0; k < n; k++) {
				int64_t slot = (end - at) / n, start = at + slot * k,
					run = slot - slot / 40 - fixture_draw(m, slot / 30 + 1);
				struct call_span *call = &t->calls[0].calls[t->calls[0].n_calls++];
				*call = (struct call_span){start - slot / 4, start - slot / 8, launch, CALL_LAUNCH};
				for (uint32_t d = 0; d < s->n_devices; d++) {
					struct stream_lane *lane = &t->devices[d].streams[0];
					lane->ops[lane->n_ops++] =
						(struct op_span){start,     start + run,  kernel,      phase,
					                         OP_KERNEL, COPY_UNKNOWN, call->start, call->end};
				}
			}
			if (p == 1)
				for (uint32_t d = 0; d < s->n_devices; d++) {
					struct stream_lane *lane = &t->devices[d].streams[1];
					lane->ops[lane->n_ops++] =
						(struct op_span){at - 590 * US < 0 ? 0 : at - 590 * US,
					                         at,
					                         copy,
					                         phase,
					                         OP_COPY,
					                         COPY_H2D,
					                         -1,
					                         -1};
				}
			at = end;
		}
	}
	for (uint32_t d = 0; d < s->n_devices; d++)
		add_gaps(m, &t->devices[d], t);
}

void fixture_overview(struct side *s, int64_t length, double busy)
{
	s->overview.length = length;
	s->overview.window_start = length * 3 / 5;
	s->overview.window_end = length * 99 / 100;
	for (int i = 0; i < OVERVIEW_BINS; i++) {
		bool working = i > OVERVIEW_BINS / 2;
		s->overview.compute[i] = (float)(working ? busy * (0.9 + 0.1 * (i % 3 - 1)) : i % 50 == 0 ? 0.3 : 0);
		s->overview.copy[i] = working ? 0.02f : 0;
		s->overview.idle[i] = 1 - s->overview.compute[i] - s->overview.copy[i];
	}
}
