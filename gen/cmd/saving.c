#include "cmd/saving.h"

#include "cmd/inputs.h"
#include "cmd/page.h"
#include "cmd/progress.h"
#include "result/say.h"
#include "same/doubts.h"
#include "say/say.h"
#include "store/store.h"

#include <string.h>
#include <unistd.h>

/* One capture under two names would count as two runs. */
static int check_copies(const struct saving *s, struct err *err)
{
	for (size_t i = 0; i < s->inputs.n; i++)
		for (size_t k = 0; k < i; k++)
			if (nothing_same_capture(s->inputs.item[k].trace, s->inputs.item[i].trace))
				return err_set(err,
				               "%s holds the same capture as %s: repeats have to be different runs",
				               s->inputs.item[i].path, s->inputs.item[k].path);
	return 0;
}

/* "NVIDIA H200 at up to 1980 MHz, driver 570.86": of all files. */
struct machine {
	struct say_gpus gpus;
	const char *driver;
};

static void add_machine(struct saving *s, struct machine *m, const char *driver, const struct trace_gpu *gpus,
                        uint32_t n)
{
	m->driver = *driver && !m->driver ? driver : m->driver;
	for (uint32_t g = 0; g < n; g++)
		if (gpus[g].name)
			say_gpu(&m->gpus, &s->arena, &s->names, &gpus[g]);
}

static const char *machine_of(struct saving *s, const struct machine *m)
{
	return SAY(NULL, &s->arena, machine_is, .known = *m->gpus.text != 0, .gpu = m->gpus.text, .driver = m->driver);
}

/* A side of a report is kept as the report's step tables. */
static int save_side(struct saving *s, const char *path, int side, struct err *err)
{
	struct page_evidence evidence = {0};
	struct machine machine = {.gpus.text = ""};
	int result = page_evidence_check(path, err);
	names_init(&s->names, &s->arena);
	if (result == 0)
		result = page_evidence_read(path, &s->names, &s->arena, &evidence, err);
	const struct side_facts *facts = &evidence.tables.facts[side];
	for (size_t r = 0; r < facts->n_runs && result == 0; r++)
		add_machine(s, &machine, facts->runs[r].source.driver, facts->runs[r].gpus, facts->runs[r].n_gpus);
	if (result == 0) {
		s->entry.parts = ARENA_NEW(&s->arena, 1, struct store_part);
		s->entry.parts[s->entry.n++] = (struct store_part){
			arena_format(&s->arena, "%s:%s", names_file(&s->names, path), page_side_label(side)), -1,
			(const unsigned char *)arena_copy(&s->arena, evidence.packed.data, evidence.packed.n),
			evidence.packed.n};
		s->bytes = evidence.packed.n;
		s->entry.machine = machine_of(s, &machine);
	}
	page_evidence_release(&evidence);
	return result < 0 ? CMD_BAD_PROFILE : CMD_DONE;
}

/* CMD_DONE, and `*found` where what is given was a side of a report. */
static int find_side(struct saving *s, const struct opt_list *given, bool *found, struct err *err)
{
	*found = false;
	for (size_t i = 0; i < given->n; i++) {
		const char *path;
		int side, is = page_find_side(given->item[i], &s->arena, &path, &side, err);
		if (is < 0)
			return CMD_WRONG_USAGE;
		if (!is)
			continue;
		*found = true;
		if (given->n == 1 && s->entry.kind == STORE_COMMIT)
			return save_side(s, path, side, err);
		return CMD_ERROR(
			CMD_WRONG_USAGE, err,
			given->n > 1
				? "%s: a side of a report is a whole side; name no other file beside it"
				: "%s: a report; gapline save keeps profiles, which every later version judges anew",
			path);
	}
	return CMD_DONE;
}

static int make_parts(struct saving *s, struct err *err)
{
	struct inputs *in = &s->inputs;
	struct store_entry *e = &s->entry;
	e->parts = ARENA_NEW(&s->arena, in->n, struct store_part);
	s->made = ARENA_NEW(&s->arena, in->n, struct digest_made);
	for (size_t i = 0; i < in->n; i++, e->n++) {
		struct input *input = &in->item[i];
		struct digest_made *made = &s->made[i];
		if (digest_make(input->path, input->trace, &s->arena, made, err))
			return -1;
		const char *file = names_file(&s->names, input->path);
		e->parts[i] = (struct store_part){file, input->folder == TRACE_NONE ? -1 : (int64_t)input->folder,
		                                  made->data, made->n};
		s->bytes += made->n;
	}
	return 0;
}

int saving_make(struct saving *s, const struct opt_list *given, bool quiet, struct err *err)
{
	struct progress progress;
	struct inputs *in = &s->inputs;
	struct machine machine = {.gpus.text = ""};
	bool is_side;
	int status = find_side(s, given, &is_side, err);
	if (status || is_side)
		return status;
	status = inputs_find(in, "profile", given, &s->arena, err);
	if (!status)
		status = inputs_begin(in, 1, quiet, &progress, &s->arena, err);
	if (status)
		return status;
	const struct read_wish wish = {.meter = progress_meter(&progress)};
	names_init(&s->names, &s->arena);
	status = inputs_read(in, 1, &wish, &s->names, &s->arena, err) ? CMD_BAD_PROFILE : CMD_DONE;
	if (!status) {
		progress_say(&progress, "packing");
		inputs_keep(in, 1, &s->arena);
		for (size_t i = 0; i < in->n; i++)
			add_machine(s, &machine, in->item[i].trace->source.driver, in->item[i].trace->gpus,
			            in->item[i].trace->n_gpus);
		s->entry.machine = machine_of(s, &machine);
		status = check_copies(s, err) ? CMD_WRONG_USAGE : make_parts(s, err) ? CMD_BAD_PROFILE : CMD_DONE;
	}
	progress_end(&progress);
	return status;
}

int saving_check(const struct saving *s, const char *path, enum store_rule rule, struct err *err)
{
	struct store store;
	if (access(path, F_OK))
		return 0;
	int result = store_open(&store, path, true, err);
	if (result == 0 && rule == STORE_REFUSE) {
		int there = store_has(&store, s->entry.kind, s->entry.name, err);
		result = there > 0 ? saving_exists(s, path, err) : there;
	}
	store_close(&store);
	return result;
}

int saving_exists(const struct saving *s, const char *path, struct err *err)
{
	return err_set(err, "%s: %s is saved in it already; --add adds to it, --force replaces it", path,
	               s->entry.name);
}

/* Runs that are kept as step tables and runs that are kept as they were recorded are not judged together, nor are two
 * reports' sides. 0, or -1 with `err`. */
static int check_joins(const struct saving *s, struct store *store, struct err *err)
{
	ARENA_LOCAL(scratch);
	struct store_entry there = {0};
	int missing = store_get(store, s->entry.kind, s->entry.name, &scratch, &there, err);
	bool clash = false;
	for (size_t i = 0; i < there.n && !missing; i++)
		for (size_t k = 0; k < s->entry.n; k++) {
			const struct store_part *old = &there.parts[i], *new = &s->entry.parts[k];
			bool table = table_recognise(old->digest, old->n) || table_recognise(new->digest, new->n);
			clash = clash || (table && (strcmp(old->file, new->file) != 0 || old->n != new->n ||
			                            memcmp(old->digest, new->digest, old->n) != 0));
		}
	if (clash)
		return err_set(err,
		               "%s: a side of a report stands alone, and more is there or given; --force replaces it",
		               s->entry.name);
	return missing < 0 ? -1 : 0;
}

enum store_done saving_put(struct saving *s, const char *path, enum store_rule rule, size_t *n_new, struct err *err)
{
	struct store store;
	enum store_done done = STORE_FAILED;
	if (store_open(&store, path, true, err) == 0 && (rule != STORE_ADD || check_joins(s, &store, err) == 0))
		done = store_put(&store, &s->entry, rule, n_new, err);
	store_close(&store);
	return done;
}

void saving_release(struct saving *s)
{
	for (size_t i = 0; s->made && i < s->inputs.n; i++)
		digest_release(&s->made[i]);
	arena_release(&s->arena);
}

static const char COMMIT[] = "commit:";

bool inputs_is_saved(const char *text)
{
	return text[0] == '@';
}

/* What there is, for whoever mistyped a name; "" where nothing is. */
static const char *others(struct store *store, enum store_kind kind, struct arena *arena)
{
	enum { NAMED = 8 };
	struct err ignored;
	struct store_entry *list;
	size_t n;
	const char *text = "";
	if (store_list(store, kind, arena, &list, &n, &ignored))
		return text;
	size_t first = n > NAMED ? n - NAMED : 0; /* the latest */
	for (size_t i = first; i < n; i++)
		text = arena_format(arena, "%s%s%s", text, i > first ? ", " : "; it has ", list[i].name);
	return first ? arena_format(arena, "%s and %zu more", text, first) : text;
}

static int get(struct store *store, const char *text, struct arena *arena, struct store_entry *entry, struct err *err)
{
	bool commit = !strncmp(text + 1, COMMIT, sizeof COMMIT - 1);
	enum store_kind kind = commit ? STORE_COMMIT : STORE_BASELINE;
	const char *name = text + 1 + (commit ? sizeof COMMIT - 1 : 0);
	if (!store_name_ok(name))
		return CMD_ERROR(CMD_WRONG_USAGE, err,
		                 "%s: a saved baseline is named @NAME, a commit of a history @commit:SHA; a file of "
		                 "this name is ./%s",
		                 text, text);
	int missing = store_get(store, kind, name, arena, entry, err);
	if (missing > 0)
		err_set_id(err, ERR_MISSING, "%s: there is no %s %s in %s%s", text,
		           commit ? "commit" : "saved baseline", name, store->path, others(store, kind, arena));
	return missing ? CMD_BAD_PROFILE : CMD_DONE;
}

/* Files of one folder keep a number of their own, as they had when they were saved. */
static uint32_t folder_of(struct inputs *in, uint32_t first, int64_t folder)
{
	if (folder < 0)
		return TRACE_NONE;
	uint32_t number = first + (uint32_t)folder;
	in->n_folders = number >= in->n_folders ? number + 1 : in->n_folders;
	return number;
}

int inputs_add_saved(struct inputs *in, const char *text, const char *db, struct arena *arena, struct err *err)
{
	struct store store;
	struct store_entry entry;
	for (size_t i = 0; i < in->n; i++)
		if (in->item[i].saved && !strcmp(in->item[i].saved, text))
			return CMD_ERROR(CMD_WRONG_USAGE, err,
			                 "%s side: %s is given twice; repeats have to be different runs", in->side,
			                 text);
	int status = store_open(&store, db, false, err) ? CMD_BAD_PROFILE : get(&store, text, arena, &entry, err);
	store_close(&store);
	if (status)
		return status;
	uint32_t first = in->n_folders;
	in->item = arena_grow(arena, in->item, in->n, in->n + entry.n, sizeof *in->item);
	for (size_t i = 0; i < entry.n; i++) {
		const struct store_part *part = &entry.parts[i];
		in->item[in->n++] = (struct input){.path = arena_format(arena, "%s/%s", text, part->file),
		                                   .saved = text,
		                                   .digest = part->digest,
		                                   .bytes = (int64_t)part->n,
		                                   .folder = folder_of(in, first, part->folder)};
	}
	return CMD_DONE;
}

/* "report.html:fixed" */
static int side_of(const char *name)
{
	const char *colon = strrchr(name, ':');
	for (int side = 0; colon && side < 2; side++)
		if (strcmp(colon + 1, page_side_label(side)) == 0)
			return side;
	return -1;
}

int inputs_saved_side(const struct inputs *in, int *side, struct err *err)
{
	for (size_t i = 0; i < in->n; i++) {
		const struct input *input = &in->item[i];
		if (!input->saved || !table_recognise(input->digest, (size_t)input->bytes))
			continue;
		*side = side_of(input->path);
		if (in->n > 1)
			return err_set(err, "%s: a side of a report, and %zu other profiles beside it", input->path,
			               in->n - 1);
		return *side < 0 ? err_set(err, "%s: a report without a side", input->path) : 1;
	}
	return 0;
}

int inputs_read_side(const struct input *input, struct names *names, struct arena *arena, struct step_tables *out,
                     struct err *err)
{
	struct table_columns columns;
	struct err cause;
	int result = table_read(input->digest, (size_t)input->bytes, names, arena, out, &columns, &cause);
	if (result == 0 && columns.n_missing)
		result = err_set(&cause, "the evidence lacks the column %s", columns.missing);
	return result < 0 ? err_set_id(err, cause.id, "%s: %s", input->path, cause.text) : 0;
}
