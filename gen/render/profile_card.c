#include "render/profile_card.h"

#include "base/format.h"
#include "render/card.h"
#include "render/evidence.h"
#include "render/pictures.h"
#include "render/view.h"
#include "render/words.h"

enum { MOST = 3 };

static const char *pay_of(const struct finding *f, const char *unit, struct arena *arena)
{
	const char *cost = arena_format(arena, "%s a %s", format_time(arena, f->per_step[f->side]), unit);
	return f->has_ceiling ? arena_format(arena, "%s; at best %s faster", cost,
	                                     format_times(arena, f->ceiling_speedup, f->ceiling_speedup))
	                      : cost;
}

static const char *steps_of(const struct analysis *a, const struct side *s, struct arena *arena)
{
	if (!s->steps.found)
		return "None was found: times are of the whole run. A range in the program, or --step NAME, marks it.";
	return evidence_measured(a, s, arena);
}

void profile_card_fill(const struct analysis *a, struct page *page)
{
	struct arena *arena = page->arena;
	const struct side *s = &a->side[0];
	const char *unit = view_unit(s);
	double idle = s->budget.period > 0 ? s->budget.idle / s->budget.period : 0;
	page_fill(&page->top, "profile.step",
	          arena_format(arena, "%s a %s", format_time(arena, s->headline.step), unit));
	page_fill(&page->top, "profile.sentence",
	          arena_format(arena, "The GPU is idle %s of it, %s.", format_share(arena, idle),
	                       format_time(arena, s->budget.idle)));
	page_if(&page->top, "profile.doubt", s->doubt);
	page_fill(&page->top, "profile.doubt", s->doubt ? s->doubt : "");
	page_if(&page->top, "profile.nothing", a->findings.n == 0);
	page_if(&page->top, "profile.pays", a->findings.n > 0);
	struct rows *rows = page_rows(&page->top, "profile.pay");
	for (uint32_t i = 0; i < a->findings.n && i < MOST; i++) {
		struct scope *row = page_row(rows);
		page_fill(row, "title", a->findings.list[i].title);
		page_fill(row, "text", pay_of(&a->findings.list[i], unit, arena));
	}
	page_say(&page->top, "profile.steps", steps_of(a, s, arena));
	glance_draw(a, arena, page_draw(&page->top, "profile.glance"));
	card_keys(a, "profile.key", page);
}
