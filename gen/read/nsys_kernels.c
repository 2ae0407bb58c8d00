/* Which module of a PyTorch program a kernel is of that torch.compile made, by marks of the module that adds ranges
 * (inject/python/gapline_kernels.py): "gapline: kernel triton_poi_fused_relu_0 Block/MLP". */
#include "base/keymap.h"
#include "base/list.h"
#include "read/nsys.h"

#include <string.h>

void nsys_read_kernel(struct nsys *r, int64_t pid, const char *text, size_t n)
{
	static const char begins[] = "gapline: kernel ";
	const size_t before = sizeof begins - 1;
	if (!text || n <= before || memcmp(text, begins, before) != 0)
		return;
	const char *name = arena_copy(r->arena, text + before, n - before), *space = strchr(name, ' ');
	if (!space || space == name || !space[1])
		return;
	const struct nsys_made made = {pid, arena_copy(r->arena, name, (size_t)(space - name)), space + 1};
	LIST_ADD(r->arena, r->made, r->n_made, r->room_made, made);
}

static uint64_t key_of(int64_t pid, uint32_t name)
{
	return (uint64_t)pid << 32 | name;
}

/* The call that launched a kernel, or that made the node of a graph that it is. */
static uint32_t call_of(const struct trace_ops *ops, size_t i)
{
	if (!(ops->flags[i] & OPF_GRAPH_NODE))
		return ops->launch[i];
	return ops->creator ? ops->creator[i] : TRACE_NONE;
}

/* A process that says two modules of a name has two programs' worth of them: then none is known. */
void nsys_give_kernels(struct nsys *r)
{
	ARENA_LOCAL(scratch);
	struct trace *t = r->trace;
	struct keymap made;
	uint32_t *module = ARENA_NEW(&scratch, r->n_made, uint32_t);
	if (!r->n_made || !t->calls.n)
		return;
	keymap_init(&made, &scratch);
	for (size_t i = 0; i < r->n_made; i++) {
		const uint32_t known = made.n, to = names_add_text(r->names, r->made[i].module);
		const uint32_t at =
			keymap_add(&made, key_of(r->made[i].pid, names_add_text(r->names, r->made[i].name)));
		module[at] = at == known || module[at] == to ? to : 0;
	}
	if (!t->calls.in_module)
		t->calls.in_module = ARENA_NEW(r->arena, t->calls.n, uint32_t);
	for (size_t i = 0; i < t->ops.n; i++) {
		const uint32_t call = call_of(&t->ops, i), process = t->devices[t->ops.device[i]].process;
		if (call == TRACE_NONE || t->ops.kind[i] != OP_KERNEL)
			continue;
		const uint32_t at = keymap_find(&made, key_of(t->processes[process].pid, t->ops.name[i]));
		if (at != UINT32_MAX)
			t->calls.in_module[call] = module[at];
	}
}
