/* What is in CUDA graphs that were traced whole: a further run of their side. */
#include "base/proc.h"
#include "cmd/run_parts.h"
#include "say/say.h"

#include <stdio.h>

int run_without_nodes(struct experiment *e, const struct suite_run *run, const char *why, const struct err *err)
{
	struct arena *arena = &e->compare.arena;
	fprintf(stderr, "gapline: %s\n",
	        SAY(NULL, arena, run_without_nodes, .whose = suite_side_name(&e->suite, run->side), .why = why,
	            .error = err ? cmd_harmless(arena, err->text) : NULL));
	return CMD_DONE;
}

int run_nodes(struct experiment *e)
{
	struct suite_run next;
	int status = CMD_DONE;
	for (int s = 0; s < e->suite.n_sides && !status; s++) {
		if (!suite_next_nodes(&e->suite, s, run_is_logged(e), &next))
			continue;
		const int64_t room = e->limit_ns - (proc_now_ns() - e->began_ns);
		if (e->limit_ns && room < (int64_t)(suite_first(&e->suite, s)->seconds * 1e9))
			run_without_nodes(e, &next, "late", NULL);
		else
			status = run_one(e, &next);
	}
	return status;
}
