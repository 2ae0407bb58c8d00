/* Which phase of one side is which of the other, where their names differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "same/renames.h"
#include "scene.h"

#include <string.h>

/* A side whose steps show these phases ("ABC"), once a step each. */
static void make_side(struct scene *s, const char *phases, struct side *side)
{
	uint32_t n = (uint32_t)strlen(phases);
	*side = (struct side){.phases = ARENA_NEW(&s->arena, n, struct phase_result), .n_phases = n};
	side->order = ARENA_NEW(&s->arena, n, uint32_t);
	side->n_order = n;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t name = scene_name(s, arena_format(&s->arena, "%c", phases[i]));
		side->phases[i] = (struct phase_result){.name = name, .instances = 1};
		side->order[i] = name;
	}
}

static void test_renames(void **state)
{
	static const char *const cases[][3] = {
		{"ABCD", "AXYD", "BXCY"}, /* in order */
		{"ABCD", "BCDX", "AX"},   /* steps follow each other: X comes before B as well */
		{"ABDE", "AXED", ""},     /* between others */
		{"ABD", "ADX", ""},       /* between A and D, between D and A */
		{"ABCDE", "AXDE", ""},    /* two became one */
		{"AB", "XY", ""},         /* nothing to go by */
	};
	struct scene *s = *state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		static struct side side[2];
		struct renames renames;
		make_side(s, cases[i][0], &side[0]);
		make_side(s, cases[i][1], &side[1]);
		renames_find(side, &s->arena, &renames);
		char said[16] = "";
		for (uint32_t k = 0; k < renames.n && k < 7; k++) {
			strcat(said, names_text(&s->names, renames.list[k].from));
			strcat(said, names_text(&s->names, renames.list[k].to));
		}
		assert_string_equal(said, cases[i][2]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_renames, scene_begin, scene_end)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
