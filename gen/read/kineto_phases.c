/* Ranges of a trace. What its user named is a range as it is; where PyTorch alone named things, the operators are put
 * together to what a training step consists of: `forward`, `backward`, and `operators` where nothing tells which. */
#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"
#include "read/kineto.h"
#include "trace/classify.h"

#include <string.h>

/* Domains: of what counts as a phase, and of its details. */
enum { PHASES, OPERATORS, FUNCTIONS };

/* What a name stands for. */
enum name_class {
	NOT_LOOKED_AT,
	PLAIN,     /* an operator, or something that its user named */
	STEP,      /* ProfilerStep#7 */
	OWN,       /* PyTorch's own annotation: enumerate(DataLoader)#…, Optimizer.step#… */
	BACKWARD,  /* an operator of the backward pass */
	LIBRARY,   /* an operator for sure, whatever its category */
	COLLECTIVE /* around the launch of a communication kernel, which says it better */
};

/* An outermost operator or annotation. */
struct item {
	int64_t start, end;
	uint32_t name, thread;
};

struct items {
	struct item *list;
	size_t n, room;
};

struct phases {
	struct kineto *k;
	int64_t origin;
	uint8_t *class;    /* by name */
	bool *is_main;     /* by thread: runs the loop */
	bool steps, named; /* there are steps; annotations of the user's own */
	bool told;         /* the steps are those that optimizers tell: the program marks none */
	struct items notes, plain, backward, groups;
};

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static enum name_class look_at(const char *name)
{
	if (begins(name, "ProfilerStep"))
		return STEP;
	if (begins(name, "enumerate(DataLoader)#") || begins(name, "Optimizer."))
		return OWN;
	if (begins(name, "autograd::engine::evaluate_function") || strstr(name, "Backward") ||
	    strstr(name, "AccumulateGrad"))
		return BACKWARD;
	if (begins(name, "nccl:") || begins(name, "gloo:") || begins(name, "c10d::"))
		return COLLECTIVE;
	if (strstr(name, "::") || begins(name, "record_param_comms") || !strcmp(name, "detach") ||
	    !strcmp(name, "detach_"))
		return LIBRARY;
	return PLAIN;
}

static enum name_class class_of(struct phases *p, uint32_t name)
{
	if (p->class[name] == NOT_LOOKED_AT)
		p->class[name] = (uint8_t)look_at(names_text(p->k->names, name));
	return p->class[name];
}

/* ---- the builder's rows ---- */

static void give_kind(struct phases *p, uint32_t thread, int64_t start, int64_t end, uint64_t name, int domain,
                      enum range_kind kind)
{
	build_range(p->k->build, &(struct build_range){.start = start - p->origin,
	                                               .end = end - p->origin,
	                                               .name = name,
	                                               .domain = domain,
	                                               .thread = kineto_thread_of(p->k, thread),
	                                               .kind = kind});
}

static void give(struct phases *p, uint32_t thread, int64_t start, int64_t end, uint64_t name, int domain)
{
	give_kind(p, thread, start, end, name, domain, RANGE_PUSH_POP);
}

static uint64_t text_key(struct phases *p, const char *text)
{
	return build_text(p->k->build, text, strlen(text));
}

/* PyTorch says around the launch which collective it is. NCCL's kernel does not always: of an all-to-all it is one of
 * sends and receives like any other. Which communicator, and how many bytes, is not said here (kineto_event.c). */
static void give_collective(struct phases *p, const struct kineto_span *s)
{
	const char *text = names_text(p->k->names, s->name);
	if (!begins(text, "nccl:") || !classify_synchronising(text))
		return;
	const struct build_range range = {.start = s->start - p->origin,
	                                  .end = s->end - p->origin,
	                                  .name = text_key(p, text),
	                                  .thread = kineto_thread_of(p->k, s->thread)};
	const char *flaw = build_time_flaw(range.start, range.end, false);
	if (flaw && s->kind == KINETO_ANNOTATION) /* becomes no range, which would be counted */
		build_drop(p->k->build, ROWS_RANGES, flaw);
	build_comm_call(p->k->build, &range,
	                &(struct build_comm_call){.peer = TRACE_NONE, .rank = TRACE_NONE, .ranks = TRACE_NONE});
}

/* "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" -> "DataLoader.__next__" and "Optimizer.step#SGD.step"
 * -> "Optimizer.step": with other workers or another optimiser it is the same phase. */
static uint64_t own_phase(struct phases *p, uint32_t name)
{
	const char *text = names_text(p->k->names, name);
	if (begins(text, "enumerate(DataLoader)"))
		return text_key(p, "DataLoader.__next__");
	return build_text(p->k->build, text, strcspn(text, "#"));
}

/* "/home/u/train.py(12): step" -> "train.py(12): step", but of PyTorch's own files what is below its folder is kept,
 * too: "torch/nn/modules/linear.py(116): forward"; "<built-in method f of T object at 0x7f12>" without the address,
 * which is another one in every run; "nn.Module: Linear_7" with its path, "nn.Module: GPT/Block/Linear". */
static uint64_t function_name(struct phases *p, const struct kineto_span *s)
{
	static const char torch[] = "torch/";
	const char *text = names_text(p->k->names, s->name), *at = strstr(text, " object at 0x");
	size_t n = strcspn(text, "("), from = n;
	if (text[0] == '<')
		return build_text(p->k->build, text, at ? (size_t)(at - text) + strlen(" object") : strlen(text));
	if (s->in_module) {
		BUF_LOCAL(path);
		buf_format(&path, "%s%s", KINETO_MODULE_PREFIX, names_text(p->k->names, s->in_module));
		return text_key(p, path.data);
	}
	const char *packages = strstr(text, "-packages/torch/");
	if (text[n] && packages && packages < text + n)
		return text_key(p, packages + strlen("-packages/"));
	while (from > 0 && text[from - 1] != '/')
		from--;
	return text_key(p, text[n] && strncmp(text, torch, sizeof torch - 1) != 0 ? text + from : text);
}

static uint64_t operator_name(struct phases *p, uint32_t name)
{
	static const char evaluated[] = "autograd::engine::evaluate_function: ";
	const char *text = names_text(p->k->names, name);
	return text_key(p, begins(text, evaluated) ? text + strlen(evaluated) : text);
}

static void give_annotation(struct phases *p, const struct kineto_span *s)
{
	if (class_of(p, s->name) == OWN) {
		give(p, s->thread, s->start, s->end, own_phase(p, s->name), PHASES);
		give(p, s->thread, s->start, s->end, text_key(p, names_text(p->k->names, s->name)), OPERATORS);
	} else {
		give(p, s->thread, s->start, s->end, text_key(p, names_text(p->k->names, s->name)), PHASES);
	}
}

/* ---- outermost operators ---- */

static void add(struct phases *p, struct items *to, const struct kineto_span *s)
{
	LIST_ADD(&p->k->scratch, to->list, to->n, to->room, (struct item){s->start, s->end, s->name, s->thread});
}

/* Until when the latest of each kind lasts, of a thread. */
struct lasting {
	int64_t step, note, op;
};

static void look_at_annotation(struct phases *p, const struct kineto_span *s, struct lasting *until)
{
	enum name_class class = class_of(p, s->name);
	give_annotation(p, s);
	p->named = p->named || class == PLAIN || class == LIBRARY || class == BACKWARD;
	if (class == STEP)
		until->step = s->end;
	else if (s->end > until->note)
		until->note = s->end;
	if (p->is_main[s->thread])
		add(p, &p->notes, s);
}

/* An outermost one. */
static void look_at_operator(struct phases *p, const struct kineto_span *s, struct lasting *until)
{
	until->op = s->end;
	if (s->start < until->note)
		return;
	if (class_of(p, s->name) == BACKWARD)
		add(p, &p->backward, s);
	else if (p->is_main[s->thread] && s->start < until->step)
		add(p, &p->plain, s);
}

/* Spans that nest, in the order of their starts. */
static void look_at_thread(struct phases *p, const struct kineto_span *s, size_t n)
{
	struct lasting until = {p->told ? INT64_MAX : INT64_MIN, INT64_MIN, INT64_MIN};
	for (; n--; s++) {
		bool annotation = s->kind == KINETO_ANNOTATION;
		if (s->kind == KINETO_FUNCTION)
			give(p, s->thread, s->start, s->end, function_name(p, s), FUNCTIONS);
		if (s->kind != KINETO_OPERATOR && !annotation)
			continue;
		enum name_class class = class_of(p, s->name);
		if (class == COLLECTIVE)
			give_collective(p, s);
		if (annotation && class == COLLECTIVE)
			continue;
		bool outermost = s->start >= until.op;
		if (annotation || class == STEP || class == OWN || (p->k->old_spelling && outermost && class == PLAIN))
			look_at_annotation(p, s, &until);
		else if (outermost)
			look_at_operator(p, s, &until);
	}
}

/* ---- groups ---- */

SORT_ORDER(by_start, struct item, ASCENDING(x->start, y->start))

/* Whether an item of a list, in the order of starts, starts in (from, to]; of `thread` where it is not TRACE_NONE. */
static bool starts_between(const struct items *items, int64_t from, int64_t to, uint32_t thread)
{
	size_t i = 0;
	SEARCH(i, items->n, items->list[i].start <= from);
	for (; i < items->n && items->list[i].start <= to; i++)
		if (thread == TRACE_NONE || items->list[i].thread == thread)
			return true;
	return false;
}

static struct items sorted(struct phases *p, const struct items *a, const struct items *b)
{
	struct items all = {.n = a->n + b->n};
	all.list = ARENA_NEW(&p->k->scratch, all.n, struct item);
	if (a->n)
		memcpy(all.list, a->list, a->n * sizeof *all.list);
	if (b->n)
		memcpy(all.list + a->n, b->list, b->n * sizeof *all.list);
	SORT(all.list, all.n, by_start);
	return all;
}

/* The operators of the backward pass on a thread are one `backward` for as long as the threads of the loop begin
 * nothing else: they wait for it. */
static void group_backward(struct phases *p)
{
	const struct items loop = sorted(p, &p->notes, &p->plain), *of = &p->backward;
	for (size_t i = 0, next; i < of->n; i = next) {
		struct item group = of->list[i];
		for (next = i + 1; next < of->n && of->list[next].thread == group.thread &&
		                   !starts_between(&loop, group.end, of->list[next].start, TRACE_NONE);
		     next++)
			group.end = of->list[next].end > group.end ? of->list[next].end : group.end;
		LIST_ADD(&p->k->scratch, p->groups.list, p->groups.n, p->groups.room, group);
		give(p, group.thread, group.start, group.end, text_key(p, "backward"), PHASES);
		for (; i < next; i++)
			give(p, group.thread, of->list[i].start, of->list[i].end, operator_name(p, of->list[i].name),
			     OPERATORS);
	}
}

/* Whether the backward pass has an operator that belongs to something in this one. */
static bool is_forward(const struct kineto *k, const struct item *item)
{
	size_t i = 0;
	struct kineto_link from = {.time = item->start, .thread = item->thread};
	SEARCH(i, k->n_links, kineto_compare_links(&k->links[i], &from) < 0);
	return i < k->n_links && k->links[i].thread == item->thread && k->links[i].time < item->end;
}

static void give_group(struct phases *p, const struct item *list, size_t n, const char *name)
{
	if (!n)
		return;
	give(p, list[0].thread, list[0].start, list[n - 1].end, text_key(p, name), PHASES);
	for (size_t i = 0; i < n; i++)
		give(p, list[i].thread, list[i].start, list[i].end, operator_name(p, list[i].name), OPERATORS);
}

/* Operators that follow each other on a thread of the loop, with neither an annotation nor a backward pass between
 * them: from the first to the last that the backward pass belongs to they are `forward`. */
static void group_plain(struct phases *p)
{
	const struct items *of = &p->plain, notes = sorted(p, &p->notes, &(struct items){0});
	const struct items backward = sorted(p, &p->groups, &(struct items){0});
	for (size_t i = 0, next; i < of->n; i = next) {
		size_t first = of->n, behind = i; /* of those of the forward pass */
		for (next = i; next < of->n && of->list[next].thread == of->list[i].thread; next++) {
			int64_t from = next > i ? of->list[next - 1].start : INT64_MAX, to = of->list[next].start;
			if (next > i && (starts_between(&notes, from, to, of->list[i].thread) ||
			                 starts_between(&backward, from, to, TRACE_NONE)))
				break;
			if (!is_forward(p->k, &of->list[next]))
				continue;
			first = first < next ? first : next;
			behind = next + 1;
		}
		first = first < next ? first : next;
		behind = behind > first ? behind : first;
		give_group(p, of->list + i, first - i, "operators");
		give_group(p, of->list + first, behind - first, "forward");
		give_group(p, of->list + behind, next - behind, "operators");
	}
}

/* ---- all of them ---- */

SORT_ORDER(compare_spans, struct kineto_span,
           ASCENDING(x->thread, y->thread) ?: sort_nested(x->start, x->end, y->start, y->end)
                   ?: DESCENDING(x->kind, y->kind) ?: ASCENDING(x->name, y->name))

/* Threads with steps run the loop; where there are none, those whose optimizers tell steps, or with annotations. What
 * optimizers tell is there beside marked steps, too: the other side's program may mark none. */
static void find_main_threads(struct phases *p)
{
	struct kineto *k = p->k;
	for (size_t i = 0; i < k->n_spans; i++)
		if ((k->spans[i].kind == KINETO_ANNOTATION || k->spans[i].kind == KINETO_OPERATOR) &&
		    class_of(p, k->spans[i].name) == STEP)
			p->steps = p->is_main[k->spans[i].thread] = true;
	kineto_find_steps(k);
	p->told = !p->steps && k->n_steps;
	for (size_t i = 0; i < k->n_steps; i++) {
		give_kind(p, k->steps[i].thread, k->steps[i].start, k->steps[i].end, text_key(p, STEP_ADDED), PHASES,
		          RANGE_START_END);
		if (p->told)
			p->steps = p->is_main[k->steps[i].thread] = true;
	}
	for (size_t i = 0; i < k->n_spans && !p->steps; i++)
		if (k->spans[i].kind == KINETO_ANNOTATION)
			p->is_main[k->spans[i].thread] = true;
}

void kineto_give_ranges(struct kineto *k, int64_t origin)
{
	struct phases p = {.k = k,
	                   .origin = origin,
	                   .class = ARENA_NEW(&k->scratch, k->names->n, uint8_t),
	                   .is_main = ARENA_NEW(&k->scratch, k->n_threads, bool)};
	build_from(k->build, "ranges");
	SORT(k->spans, k->n_spans, compare_spans);
	SORT(k->links, k->n_links, kineto_compare_links);
	SORT(k->backs, k->n_backs, kineto_compare_links);
	find_main_threads(&p);
	kineto_find_owners(k);
	for (size_t i = 0, next; i < k->n_spans; i = next) {
		next = kineto_next_thread(k, i);
		look_at_thread(&p, k->spans + i, next - i);
	}
	/* Without annotations around them they would pass for steps themselves. */
	if (p.steps || p.named)
		group_backward(&p);
	if (p.steps)
		group_plain(&p);
	for (uint32_t i = 0; i < k->n_processes; i++) {
		uint32_t process = build_find_process(k->build, i);
		if (process == TRACE_NONE)
			continue;
		build_domain(k->build, process, OPERATORS, text_key(&p, "PyTorch operators"));
		build_domain(k->build, process, FUNCTIONS, text_key(&p, "Python functions"));
	}
}
