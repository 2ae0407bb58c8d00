/* The verdict and one profile's summary for a terminal or a CI log: as wide as that, no control characters but the
 * colours that were asked for. */
#include "analyse/shown.h"
#include "base/format.h"
#include "render/render.h"
#include "render/sections.h"
#include "render/view.h"
#include "render/words.h"
#include "result/say.h"
#include "say/say.h"

#include <math.h>
#include <string.h>

enum { MARGIN = 2, LABEL = 12 };
enum { ROW_LEAST = 80 }; /* columns of a table's row: of less of their names kernels look alike */

static const struct look log_look = {false, LOOK_MOST};

struct terminal {
	const struct analysis *a;
	struct arena arena;
	struct buf *out;
	const struct look *look;
};

enum ink { INK_BOLD, INK_MUTED, INK_GOOD, INK_BAD, INK_DOUBT };

/* Text of a profile is harmless already; this is the last line of defence for what comes from elsewhere. */
static void put(struct terminal *t, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];
		bool c1 = c == 0xC2 && i + 1 < n && (unsigned char)text[i + 1] < 0xA0;
		if (c < 0x20 || c == 0x7F || c1) {
			buf_add(t->out, "?", 1);
			i += c1;
		} else {
			buf_add(t->out, text + i, 1);
		}
	}
}

static void put_ink(struct terminal *t, enum ink ink, const char *text)
{
	static const char *const code[] = {[INK_BOLD] = "\033[1m",
	                                   [INK_MUTED] = "\033[2m",
	                                   [INK_GOOD] = "\033[1;32m",
	                                   [INK_BAD] = "\033[1;31m",
	                                   [INK_DOUBT] = "\033[1;33m"};
	if (t->look->colour)
		buf_text(t->out, code[ink]);
	put(t, text, strlen(text));
	if (t->look->colour)
		buf_text(t->out, "\033[0m");
}

static void pad(struct terminal *t, int n)
{
	for (; n > 0; n--)
		buf_add(t->out, " ", 1);
}

static void end_line(struct terminal *t)
{
	buf_add(t->out, "\n", 1);
}

/* Writes words from column `at` on; further lines start at `indent`. Ends the line. */
static void put_wrapped(struct terminal *t, unsigned at, unsigned indent, const char *text)
{
	bool first = true;
	while (*text) {
		size_t n = strcspn(text, " ");
		const char *word = arena_copy(&t->arena, text, n);
		unsigned width = format_length(word);
		if (width > t->look->columns - indent)
			word = format_name(&t->arena, word, t->look->columns - indent);
		width = format_length(word);
		if (!first && at + 1 + width > t->look->columns) {
			end_line(t);
			pad(t, (int)indent);
			at = indent;
			first = true;
		}
		if (!first) {
			pad(t, 1);
			at++;
		}
		put(t, word, strlen(word));
		at += width;
		first = false;
		text += n + (text[n] == ' ');
	}
	end_line(t);
}

static void put_paragraph(struct terminal *t, unsigned indent, const char *text)
{
	pad(t, (int)indent);
	put_wrapped(t, indent, indent, text);
}

static void put_fact(struct terminal *t, const char *label, const char *text)
{
	if (!*text)
		return;
	const unsigned own = format_length(label) + 1, width = own > LABEL ? own : LABEL;
	pad(t, MARGIN);
	put_ink(t, INK_MUTED, label);
	pad(t, (int)(width - own + 1));
	put_wrapped(t, MARGIN + width, MARGIN + LABEL, text);
}

/* The same by the label's key. */
static void put_line(struct terminal *t, const char *label, const char *text)
{
	put_fact(t, *label ? say_word(WORDS_line, label) : label, text);
}

static void put_facts(struct terminal *t, const char *label, const struct facts *facts)
{
	for (uint32_t i = 0; i < facts->n && i < TABLE_BRIEF; i++)
		put_line(t, i ? "" : label, say_fact(facts->list[i], t->a->names, &t->arena));
	if (facts->n > TABLE_BRIEF)
		put_line(t, "", view_more(facts->n - TABLE_BRIEF, &t->arena));
}

/* Whether a reason is a difference of the work or part of the next step, which stand above. */
static bool is_said(struct terminal *t, const char *reason)
{
	const struct facts *differences = &t->a->comparison.differences;
	for (uint32_t i = 0; i < differences->n && i < TABLE_BRIEF; i++)
		if (strcmp(say_fact(differences->list[i], t->a->names, &t->arena), reason) == 0)
			return true;
	return strstr(words_next(t->a, &t->arena), reason);
}

/* All of them, once: any may turn the result round. What a typical step says has a line of its own. */
static void put_reasons(struct terminal *t, const struct verdict *v)
{
	const char *label = "caveats";
	for (uint32_t i = 0; i < v->reasons.n; i++) {
		const char *reason = say_fact(v->reasons.list[i], t->a->names, &t->arena);
		if (v->reasons.list[i] == v->typical_line || is_said(t, reason))
			continue;
		put_line(t, label, reason);
		label = "";
	}
}

static const char *percent(struct terminal *t, bool known, double ratio)
{
	return known ? arena_format(&t->arena, "%+.1f", 100 * (ratio - 1)) : NULL;
}

/* How long requests take, and what is timed inside of them: the median, and what has an interval. */
static void put_latency(struct terminal *t)
{
	static const char *const label[] = {"requests", "first_token", "per_token"};
	for (enum latency_of of = LATENCY_STEP; of < LATENCIES; of++) {
		const struct latency *l[2] = {&t->a->side[0].latency[of], &t->a->side[1].latency[of]};
		struct facts list = {0};
		for (int k = 0; k < QUANTILES && l[0]->longest > 0; k++) {
			const struct quantile_change *c = &t->a->quantile[of][k];
			if (!c->known || (k && !c->has_interval))
				continue;
			FACT_ADD(&list, &t->arena, latency_pair, FACT_NO_SIDE, .p = (int64_t)lround(100 * c->p),
			         .times = words_pair(&t->arena, l[0]->quantile[k].at, l[1]->quantile[k].at),
			         .low = percent(t, c->has_interval, c->lo), .high = percent(t, c->has_interval, c->hi));
		}
		if (list.n)
			put_line(t, label[of], SAY(NULL, &t->arena, latency_line, .list = &list));
	}
	for (uint32_t s = 0, n = 0; s < t->a->n_sides; s++)
		if (t->a->side[s].slowest.n)
			put_line(t, n++ ? "" : "slowest",
			         say_fact(words_slowest(t->a, s, &t->arena), t->a->names, &t->arena));
}

/* What Nsight Compute says of the heaviest kernels, or where its command stands. */
static void put_inside(struct terminal *t)
{
	enum { SPOKEN_OF = 3 };
	const struct kernels_inside *in = &t->a->inside;
	put_line(t, "kernels", in->n ? inside_missing(t->a, &t->arena) : "");
	for (uint32_t i = 0; i < in->n && i < SPOKEN_OF && kernel_pair_weighs(&in->pair[i]); i++)
		put_line(t, i ? "" : "kernels",
		         arena_format(&t->arena, "%s: %s %s", inside_name(t->a, &in->pair[i], 60, &t->arena),
		                      in->pair[i].text, in->pair[i].advice));
	if (in->command[0] || in->command[1])
		put_line(t, "kernels", SAY(NULL, &t->arena, look_inside));
}

/* A step of one side and a run of the other are no pair. */
static void put_times(struct terminal *t)
{
	const struct side *b = &t->a->side[0], *f = &t->a->side[1];
	if (view_is_pair(t->a))
		put_fact(t, view_each(t->a, &t->arena),
		         words_pair(&t->arena, view_time(b, b->headline.step), view_time(f, f->headline.step)));
	else
		put_line(t, "measured",
		         SAY(NULL, &t->arena, times_apart, .baseline = b->headline.step, .fixed = f->headline.step,
		             .first = view_unit(b)));
}

/* Where the steps come from: in one line if the same range is the step on both sides, else side by side. */
static void put_steps(struct terminal *t)
{
	const struct analysis *a = t->a;
	const struct side_steps *first = &a->side[0].steps, *second = &a->side[1].steps;
	const bool both =
		steps_by_ranges(first->origin) && steps_by_ranges(second->origin) && first->name == second->name;
	const char *what = "steps";
	for (int k = 0; k < (both ? 1 : 2); k++) {
		const struct side *s = &a->side[k];
		if (!steps_by_ranges(s->steps.origin) && s->steps.origin != STEPS_BY_PATTERN)
			continue;
		const char *found = steps_by_ranges(s->steps.origin)
		                            ? SAY(a->names, &t->arena, steps_by_range, .name = s->steps.name,
		                                  .covered = s->steps.coverage, .both = both, .fixed = second->coverage,
		                                  .optimizer = evidence_by_optimizer(a, s))
		                            : evidence_of(a, s, &t->arena);
		put_line(t, what, both ? found : arena_format(&t->arena, "%s: %s", s->label, found));
		what = "";
	}
}

void render_verdict(const struct analysis *a, const struct look *look, struct buf *out)
{
	static const enum ink ink[] = {[VERDICT_INCONCLUSIVE] = INK_DOUBT,
	                               [VERDICT_FASTER] = INK_GOOD,
	                               [VERDICT_SLOWER] = INK_BAD,
	                               [VERDICT_UNCHANGED] = INK_BOLD};
	struct terminal t = {.a = a, .out = out, .look = look ?: &log_look};
	const struct verdict *v = &a->verdict;
	put_ink(&t, ink[v->result], words_heading(a, &t.arena));
	put(&t, ", ", 2);
	const char *interval = words_interval(a, &t.arena);
	put(&t, interval, strlen(interval));
	end_line(&t);
	put_times(&t);
	put_line(&t, "profiled", words_recorded(a, &t.arena));
	put_line(&t, "", v->typical_line ? say_fact(v->typical_line, a->names, &t.arena) : "");
	put_line(&t, "", words_rates(a, &t.arena));
	put_latency(&t);
	put_line(&t, "kernels", words_once(a, &t.arena));
	put_line(&t, "why", words_change(a, &t.arena));
	put_line(&t, "prediction",
	         a->findings.diagnosis.combined_ceiling > 0 && v->has_speedup && !a->comparison.other_unit
	                 ? words_diagnosis(a, &t.arena)
	                 : "");
	put_steps(&t);
	put_line(&t, "", a->comparison.loops ? say_fact(a->comparison.loops, a->names, &t.arena) : "");
	const char *startup = evidence_startup(a, &t.arena);
	put_line(&t, "startup", startup ? startup : "");
	put_line(&t, "work", words_comparable(a, &t.arena));
	put_line(&t, "", words_same_result(a, &t.arena));
	put_facts(&t, "", &a->comparison.differences);
	put_line(&t, "next", words_next(a, &t.arena));
	put_inside(&t);
	put_reasons(&t, v);
	put_line(&t, "gate", words_gate(a, &t.arena));
	put_fact(&t, "gapline", GAPLINE_VERSION);
	arena_release(&t.arena);
}

/* ---- one profile ---- */

static void put_title(struct terminal *t, const char *text)
{
	end_line(t);
	put_ink(t, INK_BOLD, text);
	end_line(t);
}

static void put_heading(struct terminal *t, const char *what, struct unit unit)
{
	put_title(t, view_caption(t->a, what, unit, &t->arena));
}

/* A number to the right of its column, then a share of the step if `of` is not 0, then a text. */
static void put_row(struct terminal *t, struct unit unit, double ns, double of, const char *text)
{
	const char *number = format_number(&t->arena, unit, ns);
	const char *share = of > 0 ? format_share(&t->arena, ns / of) : "";
	pad(t, MARGIN + 10 - (int)format_length(number));
	put(t, number, strlen(number));
	pad(t, 9 - (int)format_length(share));
	put_ink(t, INK_MUTED, share);
	pad(t, 2);
	const unsigned columns = t->look->columns > ROW_LEAST ? t->look->columns : ROW_LEAST;
	const char *fitting = format_name(&t->arena, text, columns - MARGIN - 21);
	put(t, fitting, strlen(fitting));
	end_line(t);
}

/* The rows that a table leaves out, with their exact sum. */
static void put_rest(struct terminal *t, struct unit unit, const struct table *table, double of)
{
	if (table->shown < table->n)
		put_row(t, unit, table->rest.time[0], of, view_more(table->n - table->shown, &t->arena));
}

static void put_budget(struct terminal *t, const struct side *s, struct unit unit)
{
	const struct budget *b = &s->budget;
	put_heading(t, "budget", unit);
	put_row(t, unit, b->compute, b->period, say_word(WORDS_part, "compute"));
	put_row(t, unit, b->comm_exposed, b->period, say_word(WORDS_part, "comm_exposed"));
	put_row(t, unit, b->copy_exposed, b->period, say_word(WORDS_part, "copy_exposed"));
	put_row(t, unit, b->idle, b->period, say_word(WORDS_part, "idle"));
	put_row(t, unit, b->period, b->period, say_word(WORDS_part, "all"));

	put_heading(t, "idle", unit);
	const struct table idle = table_brief(t->a, TABLE_IDLE, &t->arena);
	for (uint32_t i = 0; i < idle.shown; i++) {
		const struct idle_row *row = &b->rows[idle.row[i].at[0]];
		const char *call =
			row->call ? arena_format(&t->arena, " (%s)", names_text(t->a->names, row->call)) : "";
		put_row(t, unit, row->per_step, b->period,
		        arena_format(&t->arena, "%s%s%s", cause_label(row->cause), call,
		                     view_in_phase(t->a, row->phase, &t->arena)));
	}
	put_rest(t, unit, &idle, b->period);
}

static void put_work(struct terminal *t, const struct side *s, struct unit unit)
{
	put_heading(t, s->phases_by_work ? "kinds" : "phases", unit);
	const struct table phases = table_brief(t->a, TABLE_PHASES, &t->arena);
	for (uint32_t i = 0; i < phases.shown; i++)
		put_row(t, unit, phases.row[i].time[0], s->budget.period,
		        view_phase(t->a, (uint32_t)phases.row[i].key));
	put_rest(t, unit, &phases, s->budget.period);

	/* the budget is a mean over GPUs and this is a sum, so a share of the one would mean nothing for the other */
	bool several = s->n_devices > 1;
	double of = several ? 0 : s->budget.period;
	put_heading(t, "kernels", unit);
	const struct table kernels = table_brief(t->a, TABLE_KERNELS, &t->arena);
	for (uint32_t i = 0; i < kernels.shown; i++)
		put_row(t, unit, kernels.row[i].time[0], of,
		        arena_format(&t->arena, "%s\xC3\x97 %s", format_count(&t->arena, kernels.row[i].count[0]),
		                     names_text(t->a->names, (uint32_t)kernels.row[i].key)));
	put_rest(t, unit, &kernels, of);
}

/* The slowest ranks, and the fastest. */
static void put_ranks(struct terminal *t, const struct side *s, struct unit unit)
{
	const struct ranks_result *r = &s->ranks;
	uint32_t n = r->n;
	while (n && r->list[n - 1].stepless)
		n--;
	if (!n)
		return;
	put_heading(t, "ranks", unit);
	for (uint32_t i = 0; i < n; i++) {
		if (i == TABLE_BRIEF - 1 && n > TABLE_BRIEF) {
			put_row(t, unit, r->list[n - 1].own, 0,
			        SAY(NULL, &t->arena, rank_row, .rank = say_rank(s, r->list[n - 1].device, &t->arena),
			            .what = "fastest", .of = n));
			break;
		}
		put_row(t, unit, r->list[i].own, 0,
		        SAY(NULL, &t->arena, rank_row, .rank = say_rank(s, r->list[i].device, &t->arena),
		            .what = r->known ? "waits" : "unmatched", .waiting = r->list[i].waiting,
		            .waited_for = r->list[i].waited_for));
	}
}

/* A typical step, where it is a tenth shorter or longer than the mean of all; else NAN. */
static double other_typical(const struct headline *h)
{
	return h->n_stopwatch || fabs(h->typical - h->step) <= 0.1 * h->step ? NAN : h->typical;
}

static void put_findings(struct terminal *t)
{
	if (!t->a->findings.n)
		return;
	put_title(t, say_word(WORDS_heading, "findings"));
	for (uint32_t i = 0; i < t->a->findings.n; i++) {
		const struct finding *f = &t->a->findings.list[i];
		pad(t, MARGIN);
		put_ink(t, INK_DOUBT, f->title);
		end_line(t);
		put_paragraph(t, 2 * MARGIN, f->text);
		put_paragraph(t, 2 * MARGIN, f->advice);
	}
}

/* What Nsight Compute measured of one profile's kernels, the heaviest first. */
static void put_measured(struct terminal *t)
{
	const struct kernels_inside *in = &t->a->inside;
	if (!in->given[0])
		return;
	put_title(t, say_word(WORDS_heading, "inside"));
	put_paragraph(t, MARGIN, inside_coverage(t->a, &t->arena));
	for (uint32_t i = 0; i < in->n && i < TABLE_BRIEF; i++) {
		const struct kernel_pair *pair = &in->pair[i];
		put_paragraph(t, MARGIN, inside_name(t->a, pair, 60, &t->arena));
		put_paragraph(t, 2 * MARGIN, inside_numbers(&pair->side[0], &t->arena));
		put_paragraph(t, 2 * MARGIN, arena_format(&t->arena, "%s %s", pair->text, pair->advice));
	}
}

/* What is estimated to be in graphs that were traced whole. */
static void put_graphs(struct terminal *t, struct unit unit)
{
	const struct graphs_inside *in = &t->a->inside.graphs[0];
	if (!in->file)
		return;
	put_title(t, say_word(WORDS_heading, "graphs"));
	put_paragraph(t, MARGIN,
	              in->unknown ? say_fact(in->unknown, NULL, &t->arena) : SAY(NULL, &t->arena, graphs_estimated));
	for (uint32_t g = 0; g < in->n && g < TABLE_BRIEF; g++) {
		const struct graph_inside *graph = &in->graph[g];
		put_row(t, unit, graph->per_step, 0, graphs_title(t->a, 0, graph, &t->arena));
		for (int of = 0; of < GRAPH_LISTS; of++)
			for (uint32_t i = 0; i < graph->list[of].n && i < TABLE_BRIEF; i++) {
				const struct graph_share *share = &graph->list[of].row[i];
				put_row(t, unit, graph->per_step * share->share, graph->per_step,
				        SAY(NULL, &t->arena, graph_part,
				            .by = say_listed(WORDS_graph_by, (unsigned)of)->key,
				            .name = graphs_name(t->a, share, (enum graph_share_of)of, &t->arena)));
			}
	}
}

/* The functions that a GPU waited for, and what is known of them. */
static void put_functions(struct terminal *t, struct unit unit)
{
	const struct functions *f = &t->a->functions;
	if (!f->known)
		return;
	put_heading(t, "functions", unit);
	for (uint32_t i = 0; i < f->all.n && i < TABLE_BRIEF; i++) {
		const struct function_row *row = &f->all.row[i];
		const char *label = say_function(t->a->names, &row->function, 44, &t->arena);
		put_row(t, unit, row->self[0], f->idle[0],
		        SAY(NULL, &t->arena, function_row, .name = label,
		            .total = row->total[0] > row->self[0] + unit.ns / 2 / pow(10, unit.decimals)
		                             ? format_number(&t->arena, unit, row->total[0])
		                             : NULL));
	}
	put_paragraph(t, MARGIN, functions_said(t->a, 0, &t->arena));
}

/* In one line, however long: it is to be copied. */
static void put_command(struct terminal *t)
{
	const char *command = t->a->inside.command[0];
	if (!command)
		return;
	put_title(t, say_word(WORDS_heading, "command"));
	pad(t, MARGIN);
	put(t, command, strlen(command));
	end_line(t);
}

void render_side(const struct analysis *a, const struct look *look, struct buf *out)
{
	struct terminal t = {.a = a, .out = out, .look = look ?: &log_look};
	const struct side *s = &a->side[0];
	struct unit unit = format_unit(s->headline.step);
	put_ink(&t, INK_BOLD, format_name(&t.arena, s->runs[0].file, t.look->columns));
	end_line(&t);
	put_line(&t, view_unit(s),
	         s->steps.found ? SAY(NULL, &t.arena, step_time, .step = s->headline.step,
	                              .periods = (int64_t)s->steps.measured, .typical = other_typical(&s->headline))
	                        : format_time(&t.arena, s->headline.step));
	put_line(&t, "steps", evidence_steps(a, s, &t.arena));
	for (uint32_t l = 0; l < s->n_loops && s->n_loops > 1 && l < TABLE_BRIEF; l++)
		put_line(&t, l ? "" : "loops", evidence_loop(a, &s->loops[l], &t.arena));
	const char *startup = evidence_startup(a, &t.arena);
	put_line(&t, "startup", startup ? startup : "");
	for (uint32_t d = 0; d < s->n_devices && d < TABLE_BRIEF; d++)
		put_line(&t, d ? "" : "gpu", view_gpu(a, &s->devices[d]));
	for (uint32_t d = 0; d < s->n_devices && d < TABLE_BRIEF; d++)
		put_line(&t, d ? "" : "clocks", clocks_words(&s->devices[d].clocks, &t.arena));
	for (uint32_t d = 0; d < s->n_devices && d < TABLE_BRIEF; d++)
		put_line(&t, d ? "" : "hardware", hardware_words(&s->devices[d].metrics, &t.arena));
	put_facts(&t, "caveats", &s->quality.notes);
	put_budget(&t, s, unit);
	put_ranks(&t, s, unit);
	put_functions(&t, unit);
	put_work(&t, s, unit);
	put_findings(&t);
	put_measured(&t);
	put_graphs(&t, unit);
	put_command(&t);
	arena_release(&t.arena);
}
