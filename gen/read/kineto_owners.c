/* In which operator and which module a call was made: whose work it launches. */
#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"
#include "read/kineto.h"
#include "trace/classify.h"

#include <string.h>

struct owners {
	struct kineto *k;
	struct opened {
		struct {
			int64_t end;
			uint32_t name, outermost; /* outermost: of backward operators, what they belong to */
			struct kineto_span *span;
		} * list;
		size_t n, room;
	} operators, modules; /* of the thread at hand; names of modules are paths */
	size_t memory;        /* the next allocation, in their order, whose operator is looked for */
	struct buf path;
	struct kineto_span *optimizer; /* the last that was opened */
	bool in_some;                  /* a call is in a module, or in an operator */
	struct owned {
		uint32_t module, outermost;
	} * owner_of; /* by numbered link: of its forward operator */
};

static bool is_module(const struct kineto *k, const struct kineto_span *s)
{
	return s->kind == KINETO_MODULE ||
	       (s->kind == KINETO_FUNCTION &&
	        strncmp(names_text(k->names, s->name), KINETO_MODULE_PREFIX, strlen(KINETO_MODULE_PREFIX)) == 0);
}

int kineto_compare_links(const void *a, const void *b)
{
	const struct kineto_link *x = a, *y = b;
	return ASCENDING(x->thread, y->thread) ?: ASCENDING(x->time, y->time);
}

/* The link where something of a thread starts; links are in order. */
static struct kineto_link *link_of(struct kineto_link *links, size_t n, const struct kineto_span *s)
{
	size_t i = 0;
	const struct kineto_link at = {.time = s->start, .thread = s->thread};
	SEARCH(i, n, kineto_compare_links(&links[i], &at) < 0);
	return i < n && kineto_compare_links(&links[i], &at) == 0 ? &links[i] : NULL;
}

/* "Block/Linear" for "nn.Module: Linear_7" in a Block: modules of one class are numbered as they come, which is another
 * number where there is one more. */
static uint32_t module_path(struct owners *p, uint32_t around, uint32_t name)
{
	const char *class = names_text(p->k->names, name) + strlen(KINETO_MODULE_PREFIX);
	size_t all = strlen(class), n = all;
	while (n && class[n - 1] >= '0' && class[n - 1] <= '9')
		n--;
	n = n > 1 && n < all && class[n - 1] == '_' ? n - 1 : all;
	p->path.n = 0;
	if (around)
		buf_format(&p->path, "%s/", names_text(p->k->names, around));
	buf_add(&p->path, class, n);
	return names_add(p->k->names, p->path.data, p->path.n);
}

static void open_span(struct owners *p, struct opened *o, struct kineto_span *s, uint32_t name, uint32_t outermost)
{
	LIST_GROW(&p->k->scratch, o->list, o->n, o->room);
	o->list[o->n].end = s->end;
	o->list[o->n].outermost = outermost;
	o->list[o->n].span = s;
	o->list[o->n++].name = name;
}

/* What was opened last of all that is open until `end`: so many are open with it. */
static size_t opened_to(const struct opened *o, int64_t end)
{
	size_t n = o->n;
	while (n && o->list[n - 1].end < end)
		n--;
	return n;
}

/* Its name; 0: nothing is. */
static uint32_t opened_until(const struct opened *o, int64_t end)
{
	size_t n = opened_to(o, end);
	return n ? o->list[n - 1].name : 0;
}

/* The first that was opened of those that are open until `end`, of operators with a name space: what has none is a
 * range of the program's (traces before 2022 know no other), or one that PyTorch puts around whole passes. A step of an
 * optimizer is one range, however many operators it is made of. */
static uint32_t outermost_until(const struct owners *p, int64_t end)
{
	if (p->optimizer && p->optimizer->end >= end)
		return p->optimizer->name;
	for (size_t i = 0; i < p->operators.n; i++)
		if (p->operators.list[i].end >= end && strstr(names_text(p->k->names, p->operators.list[i].name), "::"))
			return p->operators.list[i].name;
	return opened_until(&p->operators, end);
}

/* What an operator has to do goes to the first kernel that it launches. */
static void take_work(struct owners *p, struct kineto_span *call)
{
	size_t n = opened_to(&p->operators, call->end);
	struct kineto_span *of = n ? p->operators.list[n - 1].span : NULL;
	if (!of || !(of->flops || of->moved))
		return;
	bool launches = classify_call(names_text(p->k->names, call->name)) == CALL_LAUNCH;
	const int64_t none = of->flops ? trace_flops(0, (enum flop_format)(of->flops & 3)) : 0;
	call->flops = launches ? of->flops : none;
	call->moved = launches ? of->moved : of->moved > 0;
	if (launches) {
		of->flops = none;
		of->moved = of->moved > 0;
	}
}

/* Of two operators in each other that both know them, the inner one has them; nothing counts twice. */
static void yield_flops(struct owners *p, struct kineto_span *s)
{
	size_t n = s->flops ? opened_to(&p->operators, s->end) : 0;
	while (n && !p->operators.list[n - 1].span->flops)
		n--;
	struct kineto_span *around = n ? p->operators.list[n - 1].span : NULL;
	if (around && around->flops >> 2 == 1) {
		s->flops = around->flops;
		s->moved = s->moved > 0;
	} else if (around) {
		around->flops = around->moved = 0;
	}
}

SORT_ORDER(compare_memory, struct kineto_memory, ASCENDING(x->thread, y->thread) ?: ASCENDING(x->time, y->time))

static void close_spans(struct opened *o, int64_t start)
{
	while (o->n && o->list[o->n - 1].end < start)
		o->n--;
}

/* Of a backward pass: what the operator belongs to that was opened last. */
static uint32_t forward_until(const struct owners *p, int64_t end)
{
	size_t n = opened_to(&p->operators, end);
	return n ? p->operators.list[n - 1].outermost : 0;
}

/* Allocations of a thread before a time are in what is open. */
static void own_memory(struct owners *p, uint32_t thread, int64_t until,
                       uint32_t (*open_until)(const struct owners *, int64_t))
{
	const struct kineto *k = p->k;
	for (; p->memory < k->n_memory; p->memory++) {
		struct kineto_memory *m = &k->memory[p->memory];
		if (m->thread > thread || (m->thread == thread && m->time >= until))
			break;
		if (m->thread < thread)
			continue;
		close_spans(&p->operators, m->time);
		m->in_operator = open_until(p, m->time) ?: m->in_operator;
	}
}

/* Spans of a thread. A call is in the operator that begins last of those that hold all of it: PyTorch's profiler counts
 * what it launches as that operator's own time on the GPU (self_device_time_total). Likewise modules. */
static void find_owners(struct owners *p, struct kineto_span *s, size_t n)
{
	struct opened *operators = &p->operators, *modules = &p->modules;
	const uint32_t thread = s->thread;
	uint32_t noted = 0;
	p->optimizer = NULL;
	for (operators->n = modules->n = 0; n--; s++) {
		own_memory(p, thread, s->start, outermost_until);
		p->optimizer = kineto_is_optimizer(p->k, s) ? s : p->optimizer;
		close_spans(operators, s->start);
		close_spans(modules, s->start);
		noted += s->kind != KINETO_CALL && s->kind != KINETO_OVERHEAD;
		if (is_module(p->k, s)) {
			s->in_module = module_path(p, opened_until(modules, s->end), s->name);
			open_span(p, modules, s, s->in_module, 0);
		} else if (s->kind == KINETO_OPERATOR) {
			yield_flops(p, s);
			open_span(p, operators, s, s->name, 0);
			struct kineto_link *link = link_of(p->k->links, p->k->n_links, s);
			if (link) {
				link->module = opened_until(modules, s->end);
				link->outermost = outermost_until(p, s->end);
			}
		} else if (s->kind == KINETO_CALL) {
			s->in_operator = opened_until(operators, s->end);
			s->in_outermost = outermost_until(p, s->end);
			take_work(p, s);
			s->in_module = opened_until(modules, s->end);
			p->in_some |= s->in_module || s->in_operator;
			s->noted = (uint16_t)(noted < UINT16_MAX ? noted : UINT16_MAX);
			noted = 0;
		}
	}
	own_memory(p, thread, INT64_MAX, outermost_until);
}

/* What the backward pass launches is of the module, and of the operator, that launched what it belongs to. */
static void find_backward(struct owners *p, struct kineto_span *s, size_t n, const struct keymap *ids)
{
	struct opened *operators = &p->operators;
	const uint32_t thread = s->thread;
	for (operators->n = 0; n--; s++) {
		own_memory(p, thread, s->start, forward_until);
		close_spans(operators, s->start);
		if (s->kind == KINETO_OPERATOR) {
			const struct kineto_link *back = link_of(p->k->backs, p->k->n_backs, s);
			uint32_t link = back ? keymap_find(ids, (uint64_t)back->id) : UINT32_MAX;
			const struct owned of = link != UINT32_MAX ? p->owner_of[link] : (struct owned){0};
			if (of.module || of.outermost)
				open_span(p, operators, s, of.module, of.outermost);
		} else if (s->kind == KINETO_CALL) {
			const size_t open = opened_to(operators, s->end);
			if (!open)
				continue;
			s->in_module = s->in_module ? s->in_module : operators->list[open - 1].name;
			s->in_outermost = operators->list[open - 1].outermost ?: s->in_outermost;
		}
	}
	own_memory(p, thread, INT64_MAX, forward_until);
}

/* Spans of one thread from `i` on: where the next thread's begin. */
size_t kineto_next_thread(const struct kineto *k, size_t i)
{
	size_t next = i + 1;
	while (next < k->n_spans && k->spans[next].thread == k->spans[i].thread)
		next++;
	return next;
}

void kineto_find_owners(struct kineto *k)
{
	struct owners owners = {.k = k}, *p = &owners;
	struct keymap ids;
	SORT(k->memory, k->n_memory, compare_memory);
	for (size_t i = 0, next; i < k->n_spans; i = next) {
		next = kineto_next_thread(k, i);
		find_owners(p, k->spans + i, next - i);
	}
	buf_release(&p->path);
	if (!p->in_some || !k->n_backs)
		return;
	keymap_init(&ids, &k->scratch);
	p->owner_of = ARENA_NEW(&k->scratch, k->n_links, struct owned);
	for (size_t i = 0; i < k->n_links; i++)
		if (k->links[i].id >= 0)
			p->owner_of[keymap_add(&ids, (uint64_t)k->links[i].id)] =
				(struct owned){k->links[i].module, k->links[i].outermost};
	p->memory = 0;
	for (size_t i = 0, next; i < k->n_spans; i = next) {
		next = kineto_next_thread(k, i);
		find_backward(p, k->spans + i, next - i, &ids);
	}
}
