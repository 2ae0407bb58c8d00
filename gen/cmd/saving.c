#include "cmd/saving.h"

#include "analyse/judge/nothing.h"
#include "analyse/say.h"
#include "cmd/inputs_export.h"
#include "cmd/progress.h"

#include <string.h>
#include <unistd.h>

/* One capture under two names would count as two runs. */
static int check_copies(const struct saving *s, struct err *err)
{
	for (size_t i = 0; i < s->inputs.n; i++)
		for (size_t k = 0; k < i; k++)
			if (nothing_same_capture(&s->inputs.item[k].trace, &s->inputs.item[i].trace))
				return err_set(err,
				               "%s holds the same capture as %s: repeats have to be different runs",
				               s->inputs.item[i].path, s->inputs.item[k].path);
	return 0;
}

/* "NVIDIA H200 at up to 1980 MHz, driver 570.86": of all files. */
static const char *machine_of(struct saving *s)
{
	const char *driver = "";
	struct say_gpus gpus = {.text = ""};
	for (size_t i = 0; i < s->inputs.n; i++) {
		const struct trace *t = &s->inputs.item[i].trace;
		driver = *t->source.driver && !*driver ? t->source.driver : driver;
		for (uint32_t g = 0; g < t->n_gpus; g++)
			if (t->gpus[g].name)
				say_gpu(&gpus, &s->arena, &s->names, &t->gpus[g]);
	}
	const char *text = *gpus.text ? gpus.text : "GPU not known";
	return *driver ? arena_format(&s->arena, "%s, driver %s", text, driver) : text;
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
		if (digest_make(input->path, &input->trace, &s->arena, made, err))
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
	int status = inputs_find(in, "profile", given, &s->arena, err);
	if (status)
		return status;
	if (!quiet)
		inputs_say_passed_over(in, 1, &s->arena);
	if (inputs_export(in, 1, quiet, &s->arena, err))
		return CMD_BAD_PROFILE;
	progress_begin(&progress, quiet, "reading", inputs_bytes(in, 1));
	const struct read_wish wish = {.meter = progress_meter(&progress)};
	names_init(&s->names, &s->arena);
	status = inputs_read(in, 1, &wish, &s->names, &s->arena, err) ? CMD_BAD_PROFILE : CMD_DONE;
	if (!status) {
		progress_say(&progress, "packing");
		inputs_keep(in, 1, &s->arena);
		s->entry.machine = machine_of(s);
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

enum store_done saving_put(struct saving *s, const char *path, enum store_rule rule, size_t *n_new, struct err *err)
{
	struct store store;
	enum store_done done = STORE_FAILED;
	if (store_open(&store, path, true, err) == 0)
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
