#include "cmd/inputs_saved.h"

#include "cmd/page_evidence.h"
#include "store/store.h"

#include <string.h>

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
	if (!store_name_ok(name)) {
		err_set(err,
		        "%s: a saved baseline is named @NAME, a commit of a history @commit:SHA; a file of this name "
		        "is ./%s",
		        text, text);
		return CMD_WRONG_USAGE;
	}
	int missing = store_get(store, kind, name, arena, entry, err);
	if (missing > 0)
		err_set(err, "%s: there is no %s %s in %s%s", text, commit ? "commit" : "saved baseline", name,
		        store->path, others(store, kind, arena));
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
		if (in->item[i].saved && !strcmp(in->item[i].saved, text)) {
			err_set(err, "%s side: %s is given twice; repeats have to be different runs", in->side, text);
			return CMD_WRONG_USAGE;
		}
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
	return result < 0 ? err_set(err, "%s: %s", input->path, cause.text) : 0;
}
