#include "steps/op_names.h"

#include "base/list.h"

struct work_kinds work_kinds_of(const struct trace *t, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	struct work_kinds out = {0};
	bool *seen = ARENA_NEW(&scratch, t->names->n + WORK_KINDS, bool);
	size_t room = 0;
	for (size_t i = 0; i < t->ops.n; i++) {
		const struct work_kind op = work_kind_at(&t->ops, i);
		bool *known = &seen[op.kind == OP_KERNEL ? WORK_KINDS + op.name : work_kind_number(&op)];
		if (*known)
			continue;
		*known = true;
		LIST_ADD(arena, out.list, out.n, room, op);
	}
	return out;
}
