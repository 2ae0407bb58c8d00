#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene_idle.h"

#include <math.h>

const struct oracle *scene_model(struct scene *s)
{
	struct oracle *model = ARENA_NEW(&s->arena, 1, struct oracle);
	if (!s->trace)
		s->trace = maker_link(&s->m);
	oracle_run(s->trace, s->step, s->warmup < 1 ? 1 : (size_t)s->warmup, &s->arena, model);
	return model;
}

int64_t scene_steps(const struct oracle *model)
{
	return model->steps ? (int64_t)(model->n_steps - model->warmup) : 1;
}

/* Total of the rows of one cause and phase (where nobody marked any, of all phases), which must name `call`. */
static int64_t rows_total(struct scene *s, const struct budget *budget, const struct want *want, double steps,
                          bool by_work)
{
	int64_t found = 0;
	for (uint32_t k = 0; k < budget->n_rows; k++) {
		const struct idle_row *row = &budget->rows[k];
		if (row->cause != want->cause || (row->phase != scene_name(s, want->phase) && !by_work))
			continue;
		found += llround(row->per_step * steps);
		assert_string_equal(names_text(&s->names, row->call), want->call ? want->call : "");
	}
	return found;
}

const struct oracle *scene_idle_expect(struct scene *s, uint32_t device, const struct want *wants, size_t n)
{
	for (size_t i = 0; i < n; i++)
		scene_name(s, wants[i].phase); /* the model's tables have room for every name that there is now */
	const struct oracle *model = scene_model(s);
	const struct side *side = scene_analyse(s);
	assert_true(device < side->n_devices);
	const struct budget *budget = &side->devices[device].budget;
	double steps = (double)scene_steps(model);
	int64_t idle = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t found = rows_total(s, budget, &wants[i], steps, model->by_work), modelled = 0;
		for (uint32_t k = 0; k < OPENED_COUNT; k++)
			for (uint32_t phase = 0; phase < model->n_names; phase++)
				if (model->by_work || phase == scene_name(s, wants[i].phase))
					modelled +=
						*oracle_row(model, &model->devices[device], wants[i].cause, phase, k);
		if (found != wants[i].ns || modelled != wants[i].ns)
			fail_msg("%s in %s: analysis %lld, model %lld, by hand %lld", cause_name(wants[i].cause),
			         wants[i].phase ? wants[i].phase : "-", (long long)found, (long long)modelled,
			         (long long)wants[i].ns);
		idle += wants[i].ns;
	}
	assert_int_equal(llround(budget->idle * steps), idle);
	assert_int_equal(model->devices[device].total[ORACLE_IDLE], idle);
	return model;
}
