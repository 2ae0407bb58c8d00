#include "analyse/sides.h"

#include "analyse/step_tables.h"
#include "base/parallel.h"
#include "charge/work_phases.h"
#include "run/choose_steps.h"
#include "same/doubts.h"
#include "side/side_rows.h"

#include <malloc.h>

/* One run: what is done side by side with others. */
struct task {
	struct sides_job *job;
	size_t r;
	const struct analyse_options *options;
	const struct trace *trace;
	struct arena memory;
	struct err err;
	int result;
};

static struct run *run_of(struct task *task)
{
	return &task->job->runs[task->r];
}

static void open_run(void *context, size_t i)
{
	struct task *task = (struct task *)context + i;
	run_open(run_of(task), task->trace, &task->memory);
}

static void find_steps(void *context, size_t i)
{
	struct task *task = (struct task *)context + i;
	struct err cause;
	run_of(task)->asked.requests = task->options->requests;
	run_of(task)->asked.first_token = task->options->first;
	run_of(task)->asked.each_token = task->options->each;
	task->result = run_find_steps(run_of(task), task->options->step, &cause);
	if (task->result < 0)
		err_set_id(&task->err, cause.id, "%s (%s): %s", task->job->inputs[task->r].file, task->job->words.label,
		           cause.text);
}

static void find_run_phases(void *context, size_t i)
{
	struct task *task = (struct task *)context + i;
	run_find_phases(run_of(task), task->options->warmup);
}

static void apply_work_phases(void *context, size_t i)
{
	work_phases_apply(run_of((struct task *)context + i));
}

/* Where ranges say little of a run's phases, those of all runs are made of the GPU's work: they are compared. */
static void make_work_phases(struct task *tasks, size_t n)
{
	bool wanted = false;
	for (size_t i = 0; i < n; i++) {
		const struct run *run = run_of(&tasks[i]);
		if (run->steps.span_named || (run->steps.found && steps_by_ranges(run->steps.origin)))
			return;
		wanted = wanted || work_phases_wanted(run);
	}
	for (size_t i = 0; i < n && wanted; i++)
		work_phases_name(run_of(&tasks[i]));
	if (wanted)
		parallel_each(n, apply_work_phases, tasks);
}

static void build_side(void *context, size_t i)
{
	struct sides_job *job = (struct sides_job *)context + i;
	job->side = side_build(job->runs, job->n, &job->words, &job->memory, &job->facts);
}

/* Runs of one side are averaged, so all of them have steps of one name, or none has any. One capture given twice would
 * pass for two measurements and narrow the interval. */
static int check_side(const struct sides_job *job, const struct names *names, struct err *err)
{
	const struct steps *first = &job->runs[0].steps;
	for (size_t r = 0; r < job->n; r++) {
		const struct steps *s = &job->runs[r].steps;
		for (size_t q = 0; q < r; q++)
			if (nothing_same_capture(job->inputs[q].trace, job->inputs[r].trace))
				return err_set(
					err, "%s (%s): holds the same capture as %s; repeats have to be different runs",
					job->inputs[r].file, job->words.label, job->inputs[q].file);
		if (s->found != first->found || (s->found && s->name != first->name))
			return err_set(
				err,
				"%s (%s): its steps are %s, those of %s are %s; runs of a side have to have the same "
				"steps, so name their range with --step",
				job->inputs[r].file, job->words.label,
				s->found ? names_text(names, s->name) : "not found", job->inputs[0].file,
				first->found ? names_text(names, first->name) : "not found");
	}
	return 0;
}

/* Whether something was measured in each of its runs, once they are charged. */
static int check_work(const struct sides_job *job, struct err *err)
{
	for (size_t r = 0; r < job->n; r++)
		if (!job->runs[r].charge->n_devices) {
			err_set_id(err, ERR_EMPTY,
			           "%s (%s): no GPU operation takes any time in the measured window, so there is "
			           "nothing to judge; capture again with --trace=cuda,nvtx",
			           job->inputs[r].file, job->words.label);
			return ANALYSE_EMPTY;
		}
	for (size_t r = 0; r < job->n; r++) {
		struct err cause;
		if (tokens_check(&job->runs[r], &cause) < 0)
			return err_set_id(err, cause.id, "%s (%s): %s", job->inputs[r].file, job->words.label,
			                  cause.text);
	}
	return 0;
}

/* What is step of a side of a report, where a range is; else NULL. */
static const struct steps *kept_steps(const struct analyse_options *options, struct steps *out)
{
	for (int s = 0; s < 2; s++) {
		const struct step_tables *table = options->table[s];
		const struct side_steps *of = table ? &table->side[options->table_side[s]].steps : NULL;
		if (of && of->found && steps_by_ranges(of->origin)) {
			*out = (struct steps){.found = true, .origin = of->origin, .name = of->name};
			return out;
		}
	}
	return NULL;
}

static int prepare_tasks(struct task *tasks, size_t n, struct sides_job *jobs, int n_jobs,
                         const struct analyse_options *options, struct names *names, struct arena *arena,
                         struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct task *task = &tasks[i];
		task->job->files[task->r] = names_file(names, task->job->inputs[task->r].file);
		task->trace = task->job->inputs[task->r].trace;
	}
	parallel_each(n, open_run, tasks);
	for (size_t i = 0; i < n; i++) {
		run_begin(run_of(&tasks[i]));
		run_of(&tasks[i])->asked.by_loop = options->loop != NULL;
	}
	malloc_trim(0); /* what ten thousand files lived in, in pieces … */
	parallel_each(n, find_steps, tasks);
	malloc_trim(0); /* … and what they said of their ranges is not asked again */
	for (size_t i = 0; i < n; i++)
		if (tasks[i].result < 0) {
			*err = tasks[i].err;
			return tasks[i].result;
		}
	struct pattern_side sides[2] = {0};
	for (int j = 0; j < n_jobs; j++)
		sides[j] = (struct pattern_side){jobs[j].runs, jobs[j].n};
	struct steps of_table;
	const struct steps *kept = kept_steps(options, &of_table);
	if (steps_agree(sides, n_jobs, kept, options->step, options->loop, arena, err) < 0)
		return -1;
	parallel_each(n, find_run_phases, tasks);
	make_work_phases(tasks, n);
	int result;
	for (int j = 0; j < n_jobs; j++)
		if ((result = check_side(&jobs[j], names, err)) < 0)
			return result;
	return 0;
}

int sides_build(struct sides_job *jobs, int n_jobs, const struct analyse_options *options, struct names *names,
                struct arena *work, struct arena *arena, struct err *err)
{
	size_t n = 0;
	struct task *tasks = NULL;
	for (int j = 0; j < n_jobs; j++) {
		jobs[j].runs = ARENA_NEW(work, jobs[j].n, struct run);
		jobs[j].words.run_files = jobs[j].files = ARENA_NEW(work, jobs[j].n, const char *);
		tasks = arena_grow(work, tasks, n, n + jobs[j].n, sizeof *tasks);
		for (size_t r = 0; r < jobs[j].n; r++)
			tasks[n++] = (struct task){.job = &jobs[j], .r = r, .options = options};
	}
	int result = prepare_tasks(tasks, n, jobs, n_jobs, options, names, work, err);
	if (result == 0)
		parallel_each((size_t)n_jobs, build_side, jobs);
	for (int j = 0; j < n_jobs && result == 0; j++)
		result = check_work(&jobs[j], err);
	for (size_t i = 0; i < n; i++)
		arena_adopt(work, &tasks[i].memory);
	for (int j = 0; j < n_jobs; j++)
		arena_adopt(arena, &jobs[j].memory);
	malloc_trim(0); /* nor what sides were made in */
	return result;
}
