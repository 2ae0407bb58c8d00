/* What is no trace, or holds nothing to judge. */
#include "read/kineto.h"

#include "trace/classify.h"

int kineto_check_kind(const struct kineto *k, enum packing packing)
{
	static const char *const inside[] = {
		[PACKING_NONE] = "is", [PACKING_GZIP] = "holds, gzipped,", [PACKING_ZSTD] = "holds, packed with zstd,"};
	static const char *const begin[] = {
		[PACKING_NONE] = "head -c 300 ", [PACKING_GZIP] = "gzip -dc < ", [PACKING_ZSTD] = "zstd -dc < "};
	bool foreign = !k->n_ops && !k->operators && !k->annotations && !k->calls && !k->functions;
	if (k->is_trace && k->events && !foreign)
		return 0;
	BUF_LOCAL(command);
	buf_text(&command, begin[packing]);
	buf_word(&command, k->path, "");
	if (packing != PACKING_NONE)
		buf_text(&command, " | head -c 300");
	if (!k->is_trace && k->execution == 2)
		err_set(k->err,
		        "%s: is an execution trace of PyTorch: operators and their inputs, without times on the GPU; "
		        "name the trace of torch.profiler that was recorded beside it",
		        k->path);
	else if (k->old_profiler)
		err_set(k->err,
		        "%s: is a trace of PyTorch's old profiler (torch.autograd.profiler without Kineto), which "
		        "gapline does not read; record again with "
		        "torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
		        k->path);
	else if (!k->is_trace || !k->events)
		err_set(k->err,
		        "%s: %s JSON, but no PyTorch trace: it holds no trace events; gapline reads traces of "
		        "torch.profiler (export_chrome_trace, tensorboard_trace_handler) and nsys exports (nsys "
		        "export --type sqlite); see how the file begins with: %s",
		        k->path, inside[packing], command.data);
	else
		err_set(k->err,
		        "%s: is a trace of something else than torch.profiler: none of its %lld events is an "
		        "operator, a CUDA call or GPU work; see what wrote it with: %s; record programs of any other "
		        "framework with: gapline capture",
		        k->path, (long long)k->events, command.data);
	return -1;
}

/* Whether a call was made that gives a GPU work. Waiting is none: the profiler itself waits for the GPU. */
static bool launches_any(const struct kineto *k)
{
	bool any = false;
	for (size_t i = 0; i < k->n_spans && !any; i++) {
		const char *name = names_text(k->names, k->spans[i].name);
		enum call_class class = k->spans[i].kind == KINETO_CALL ? classify_call(name) : CALL_OTHER;
		any = class == CALL_LAUNCH || class == CALL_COPY;
	}
	return any;
}

static const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

int kineto_check_contents(const struct kineto *k, const struct read_wish *wish)
{
	const struct trace *t = k->build->trace;
	if (t->ops.n > 0 || wish->without_gpu)
		return 0;
	bool dropped = t->rows[ROWS_KERNELS].dropped || t->rows[ROWS_COPIES].dropped || t->rows[ROWS_MEMSETS].dropped;
	const char *elsewhere = dropped || k->counted ? NULL : k->elsewhere;
	static const char again[] =
		"; record again with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])";
	const char *reason =
		dropped      ? "its GPU events make no sense and were dropped: the file was changed"
		: k->counted ? "torch.profiler ran kernels again and again to measure them (profiler_metrics), which "
			       "takes their times away; leave experimental_config out"
		: elsewhere  ? "its device is no GPU, and gapline does not read what PyTorch records of it: "
		: k->calls && !launches_any(k) ? "CUDA was recorded, and no call launches a kernel or copies; record "
						 "the part of the program that does (schedule: wait, warmup, active)"
		: k->calls ? "CUDA calls were recorded, but nothing from the GPU: usual without permission to "
			     "profile, in virtual machines, or where another profiler uses CUPTI"
			   : "CUDA was not among the activities, or the program did not use it";
	return err_set_id(
		k->err, ERR_EMPTY,
		"%s: holds no GPU work, so there is nothing to judge: %lld operator%s, %lld annotation%s, %lld CUDA "
		"call%s; %s%s%s",
		k->path, (long long)k->operators, plural(k->operators), (long long)k->annotations,
		plural(k->annotations), (long long)k->calls, plural(k->calls), reason, elsewhere ? elsewhere : "",
		elsewhere ? "; record it where it runs on a GPU" : again);
}
