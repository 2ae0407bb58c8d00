#include "steps/pattern_cycles.h"

#include <math.h>

/* Cycles one after the other that hold more than is usual: what ends a step. */
struct end {
	uint32_t others; /* ops that no usual cycle has */
	bool works, host, read, input, looks_up;
};

/* How often cycles end a step, one or several after the other, and how many are between two ends. */
struct ends {
	uint32_t n, since, fewest, most;
	bool goes_on;
};

/* How many cycles hold what tells of it. */
struct seen {
	uint32_t cycles, input, host, update, work, lookup;
	size_t inside;             /* ops of cycles, of those that are longer as many as are usual */
	uint32_t exact, asked;     /* just what is usual; and the host has to do with it */
	struct ends ends, updates; /* with more than is usual; with an optimizer's kernel as in no usual cycle */
	uint32_t sure;             /* of the ends: what does not look like a log */
	struct end end;            /* that goes on */
};

/* Whether what is between two steps says that it is that. */
static bool is_sure(const struct pattern_fit *fit, const struct end *end)
{
	/* a test for convergence now and then may be as much as an iteration that is that short; an op or two are none,
	 * which reads, computes and writes */
	bool much = (end->works || fit->ops <= RULE_SPARE) && end->others + end->host >= RULE_QUARTER * fit->ops;
	/* who only waits takes no loss to print */
	bool waits = end->host && !end->read;
	return end->looks_up || end->input || !end->host || waits || much;
}

/* A cycle more. Whether it is one behind an end. */
static bool go_on(struct ends *ends, bool is_end, bool is_cycle)
{
	bool behind = ends->goes_on && !is_end;
	if (behind && ends->n) {
		ends->fewest = ends->n == 1 || ends->since < ends->fewest ? ends->since : ends->fewest;
		ends->most = ends->since > ends->most ? ends->since : ends->most;
	}
	ends->n += behind;
	ends->since = (behind ? 0 : ends->since) + is_cycle;
	ends->goes_on = is_end;
	return behind;
}

static void see(const struct pattern_sequence *s, const struct pattern_found *f, uint32_t k, struct seen *seen)
{
	const struct pattern_fit *fit = &f->fit;
	struct end end = seen->end;
	uint8_t flags = 0, more = 0;
	uint32_t others = 0;
	size_t ops = fit->cut[k + 1] - fit->cut[k];
	for (size_t i = fit->cut[k]; i < fit->cut[k + 1]; i++) {
		bool other = fit->cycle[k].off && !fit->usual[s->token[i]];
		flags |= s->flags[i];
		more |= other ? s->flags[i] : 0;
		others += other;
		end.read = end.read || pattern_is_out(s->flags[i]);
	}
	bool is_cycle = fit->cycle[k].grade != GRADE_NONE, host = flags & PATTERN_HOST;
	go_on(&seen->updates, more & PATTERN_UPDATE, is_cycle);
	if (is_cycle) {
		seen->cycles++;
		seen->input += (flags & PATTERN_INPUT) != 0;
		seen->update += (flags & PATTERN_UPDATE) != 0;
		seen->work += (flags & PATTERN_WORK) != 0;
		seen->lookup += (flags & PATTERN_LOOKUP) != 0;
		size_t most = f->same > 0 ? (size_t)(RULE_LONGER * fit->ops) : fit->ops;
		seen->inside += ops < most ? ops : most;
		seen->host += host;
		seen->exact += fit->cycle[k].grade == GRADE_EXACT;
		seen->asked += fit->cycle[k].grade == GRADE_EXACT && host;
	}
	bool is_end = host || more & PATTERN_WORK;
	if (go_on(&seen->ends, is_end, is_cycle))
		seen->sure += is_sure(fit, &seen->end);
	end.works = end.works || more & PATTERN_WORK;
	end.host = end.host || host;
	end.input = end.input || more & PATTERN_INPUT;
	end.looks_up = end.looks_up || more & PATTERN_LOOKUP;
	end.others += others;
	seen->end = is_end ? end : (struct end){0};
}

static bool in_nearly_all(uint32_t n, uint32_t of)
{
	return n >= RULE_NEARLY_ALL * of;
}

/* Again and again, but not in nearly all. */
static bool in_some(uint32_t n, uint32_t of)
{
	return n >= RULE_CYCLES && !in_nearly_all(n, of);
}

/* `told`: each cycle has something to do with the host, or what a step ends with. */
static enum pattern_level level_of(const struct seen *seen, const struct ends *ends, bool told)
{
	const uint32_t n = seen->cycles;
	if (!n || !in_nearly_all(seen->work, n))
		return LEVEL_PARTS;
	const bool open = ends->n + 1 >= RULE_CYCLES && ends->n <= RULE_HALF * n && in_nearly_all(seen->sure, ends->n);
	return open && !told && !in_nearly_all(seen->lookup, n) ? LEVEL_OPEN : LEVEL_STEP;
}

struct pattern_score pattern_score_of(const struct pattern_sequence *s, const struct pattern_found *f)
{
	struct pattern_score score = {.weight = f->ops * (double)f->n_ops,
	                              .varied = f->same > 0,
	                              .least = s->of_pytorch ? RULE_CYCLES : RULE_CYCLES_VARIED,
	                              .cycles = f->cycles,
	                              .ops = f->fit.ops};
	double named = f->same * (double)f->n_ops;
	struct seen seen = {0};
	/* what follows does not say whether the last one ends a step */
	for (uint32_t k = f->from; k + 1 < f->to; k++)
		see(s, f, k, &seen);
	uint32_t n = seen.cycles;
	if (score.varied)
		score.weight =
			fmin(fmin(score.weight, named + (score.weight - named) * RULE_NEARLY_ALL), (double)seen.inside);
	if (f->bursts)
		score.weight = (double)seen.inside + (double)f->written;
	bool host = in_nearly_all(seen.host, n);
	score.asked = in_nearly_all(seen.asked, seen.exact);
	score.told = in_nearly_all(seen.input, n) || in_nearly_all(seen.update, n);
	bool by_update = seen.updates.n >= RULE_MANY && in_some(seen.updates.n, n),
	     by_input = in_some(seen.input, n) && !host;
	const struct ends *ends = by_update ? &seen.updates : &seen.ends;
	score.steps = by_input && seen.input > ends->n ? seen.input : ends->n;
	score.fewest = ends->fewest;
	score.most = ends->most;
	score.level = by_update || by_input ? LEVEL_PARTS : level_of(&seen, ends, score.told || host);
	return score;
}

/* Whether there are enough of the steps for these parts: one for each end. */
static bool are_enough(const struct pattern_score *step, const struct pattern_score *part)
{
	return step->weight >= RULE_MOST * part->weight && step->cycles <= (1 + RULE_QUARTER) * part->steps + 1 &&
	       (step->cycles >= RULE_MANY || (step->cycles + 1 >= step->least && part->fewest == part->most));
}

bool pattern_score_is_better(const struct pattern_score *a, const struct pattern_score *b)
{
	if (a->level != b->level)
		return a->level > b->level ? are_enough(a, b) : !are_enough(b, a);
	/* of what the host has to do with several are no step; of what it has nothing to do with they are one that has
	 * its input */
	if (a->varied && !b->varied && a->cycles < b->cycles && (b->asked || (a->told && !b->told)))
		return !b->asked && a->weight >= RULE_MOST * b->weight;
	if (b->weight < RULE_EXPLAINED * a->weight)
		return true;
	if (a->weight <= RULE_EXPLAINED * b->weight)
		return false;
	return a->ops < b->ops ? !a->varied || a->told || !b->told : b->varied && a->told && !b->told;
}
