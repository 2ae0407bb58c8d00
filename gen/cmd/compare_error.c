/* What a comparison that failed writes in the place of its result: a job that shows these files, whatever happened,
 * would show the result of an older one. */
#include "cmd/compare.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- where it may be written ---- */

/* Looked for anew: what failed may have been the search. */
static bool is_input(const struct compare *c, const struct opt_list *operands, const struct output *o,
                     struct arena *arena)
{
	const struct opt_list *const lists[] = {&c->given[0], &c->given[1], operands, &c->outputs_of[0],
	                                        &c->outputs_of[1]};
	bool is = output_replaces_path(o, c->db);
	for (int s = 0; s < 2; s++)
		is = is || output_replaces_path(o, c->ncu[s]) || output_replaces_path(o, c->graph_nodes[s]);
	for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
		for (size_t i = 0; i < lists[l]->n && !is; i++) {
			struct inputs found;
			struct err ignored;
			inputs_find(&found, "", &(struct opt_list){&lists[l]->item[i], 1}, arena, &ignored);
			is = output_replaces_path(o, lists[l]->item[i]);
			for (size_t k = 0; k < found.n; k++)
				is = is || output_replaces(o, &found.item[k].file);
		}
	return is;
}

/* Another of the outputs that were asked for, which may be whole, from before. */
static bool is_other_output(const struct compare *c, size_t kind, const struct output *o)
{
	bool is = false;
	for (size_t k = 0; k < COMPARE_OUTPUTS && !is; k++) {
		struct output other = {0};
		struct err ignored;
		is = k != kind && c->paths[k] && *c->paths[k] && !output_prepare(&other, c->paths[k], &ignored) &&
		     !other.standard && output_same(&other, o);
		output_release(&other);
	}
	return is;
}

static int render(size_t kind, const char *path, const struct render_error *e, struct buf *out, struct err *err)
{
	switch (kind) {
	case COMPARE_JSON:
		return render_error_json(e, out, err);
	case COMPARE_JUNIT:
		return render_error_junit(e, out, err);
	case COMPARE_SUMMARY:
		if (compare_add_to_summary(path, out, err))
			return -1;
		break;
	default:
		break;
	}
	render_error_markdown(e, kind == COMPARE_COMMENT, out);
	return 0;
}

static struct {
	struct compare *compare; /* NULL: none */
	const struct opt_list *operands;
} watched;

static void write_no_memory(void)
{
	struct err err;
	if (!watched.compare)
		return;
	err_set_id(&err, ERR_MEMORY, "%s", memory_problem());
	cmd_failed_by(&err);
	compare_write_error(watched.compare, watched.operands, MEMORY_STATUS);
}

void compare_watch_memory(struct compare *c, const struct opt_list *operands)
{
	watched.compare = c;
	watched.operands = operands;
	memory_undo(write_no_memory);
}

void compare_write_error(struct compare *c, const struct opt_list *operands, int status)
{
	static const size_t kinds[] = {COMPARE_JSON, COMPARE_JUNIT, COMPARE_MARKDOWN, COMPARE_COMMENT, COMPARE_SUMMARY};
	ARENA_LOCAL(arena);
	struct names names;
	struct err err;
	bool printed = false;
	watched.compare = NULL;
	if ((status != CMD_WRONG_USAGE && status != CMD_BAD_PROFILE) || !*cmd_failed()->text)
		return;
	names_init(&names, &arena);
	const struct render_error e = cmd_error(status, &names, &arena);
	c->paths[COMPARE_SUMMARY] = c->github_summary ? getenv("GITHUB_STEP_SUMMARY") : NULL;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const char *path = c->paths[kinds[i]];
		struct output o = {0};
		BUF_LOCAL(bytes);
		bool wanted = path && *path && !output_prepare(&o, path, &err) && !(o.standard && printed) &&
		              !is_other_output(c, kinds[i], &o) && !is_input(c, operands, &o, &arena);
		if (wanted && !render(kinds[i], path, &e, &bytes, &err)) {
			printed = printed || o.standard;
			o.bytes = bytes.data;
			o.n = bytes.n;
			if (output_write(&o, 1, &err) && strcmp(err.text, cmd_failed()->text))
				fprintf(stderr, "gapline: the error is not in it: %s\n",
				        cmd_harmless(&arena, err.text));
		}
		output_release(&o);
	}
}
