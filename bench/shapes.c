#include "shapes.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char shape_help[] = "  names       N NVTX ranges, each with a name of its own\n"
			  "  renamed     the same, every second with another name\n"
			  "  nesting     N NVTX ranges, 1000 deep\n"
			  "  streams     N kernels, each on a stream of its own\n"
			  "  one-step    N kernels in one range: no steps\n"
			  "  long-step   N kernels, nearly all of them in the fifth of six steps\n"
			  "  start-end   N start/end ranges that are open at the same time\n"
			  "  threads     N threads with one launch and one range each\n"
			  "  processes   N processes on one GPU, 50 kernels each\n"
			  "  kernels     N kernels, each with a name of its own\n"
			  "  os-calls    N threads of operating-system calls\n"
			  "  syncs       N blocking copies inside one allocation call\n"
			  "  steps       N steps of one kernel, numbered\n"
			  "  one-launch  N kernels of one launch, a graph's, under eight names\n"
			  "  one-name    N kernels of one launch, under one name\n"
			  "  one-time    N kernels, launched at one time by as many threads and run at one time\n";

enum { PID = 1000, STEPS = 10 };

struct shape {
	struct profile_file *file;
	int64_t launch, kernel, copy; /* strings */
	uint32_t correlation;
	int64_t now;
};

struct place {
	int64_t pid, tid;
	int device, stream;
	int64_t kernel; /* string */
};

static const struct place first_place = {PID, PID, 0, 7, 0};

/* A call of 2 µs, and 1 µs later a kernel of `ns`. */
static void launch(struct shape *s, const struct place *at, int64_t ns)
{
	struct file_call call = {s->now, s->now + 2000, file_tid(at->pid, at->tid), ++s->correlation, s->launch};
	struct file_op op = {.start = call.end + 1000,
	                     .process = file_pid(at->pid),
	                     .device = at->device,
	                     .stream = at->stream,
	                     .correlation = s->correlation,
	                     .name = at->kernel ? at->kernel : s->kernel};
	op.end = op.start + ns;
	file_cuda_call(s->file, &call);
	file_kernel(s->file, &op);
	s->now = call.end;
}

static void range(struct shape *s, int64_t start, int64_t end, const char *text, int64_t tid, int start_end)
{
	struct file_range row = {
		.start = start, .end = end, .thread = file_tid(PID, tid), .text = text, .start_end = start_end};
	file_nvtx(s->file, &row);
}

/* A name without digits, which would be taken for counters. */
static const char *letters(int64_t number, char text[32])
{
	char *at = text + 31;
	*at = 0;
	do
		*--at = (char)('a' + number % 26);
	while (number /= 26);
	return at;
}

/* Every second range has another name than a side without `others`. */
static void named(struct shape *s, int64_t n, bool others)
{
	char text[32], other[33] = "Z";
	for (int step = 0; step < STEPS; step++) {
		int64_t begin = s->now;
		for (int64_t i = n * step / STEPS; i < n * (step + 1) / STEPS; i++) {
			int64_t start = s->now;
			if (i % 10 == 0)
				launch(s, &first_place, 1500);
			s->now += 100;
			const char *name = letters(i, text);
			if (others && i % 2)
				name = strcpy(other + 1, name) - 1;
			range(s, start, s->now, name, PID, 0);
		}
		range(s, begin, s->now += 1000, "step", PID, 0);
	}
}

static void names(struct shape *s, int64_t n)
{
	named(s, n, false);
}

static void renamed(struct shape *s, int64_t n)
{
	named(s, n, true);
}

static void nesting(struct shape *s, int64_t n)
{
	enum { DEPTH = 1000 };
	for (int64_t tower = 0; tower < n / DEPTH + 1; tower++) {
		int64_t start = s->now, width = 20 * DEPTH;
		for (int64_t i = 0; i < DEPTH; i++)
			range(s, start + 2 * i, start + width - 2 * i, i ? "deeper" : "step", PID, 0);
		s->now += 5000;
		launch(s, &first_place, 4000);
		s->now = start + width + 100;
	}
}

static void streams(struct shape *s, int64_t n)
{
	struct place at = first_place;
	for (int step = 0; step < STEPS; step++) {
		int64_t begin = s->now;
		for (int64_t i = 0; i < n / STEPS; i++, at.stream++)
			launch(s, &at, 5000);
		range(s, begin, s->now += 20000, "step", PID, 0);
	}
}

static void one_step(struct shape *s, int64_t n)
{
	int64_t begin = s->now;
	for (int64_t i = 0; i < n; i++)
		launch(s, &first_place, 500 + i * 7919 % 1000);
	range(s, begin, s->now, "everything", PID, 0);
}

static void long_step(struct shape *s, int64_t n)
{
	for (int step = 0; step < 6; step++) {
		int64_t begin = s->now;
		for (int64_t i = 0; i < (step == 4 ? n : n / 100 + 1); i++)
			launch(s, &first_place, 500 + i * 7919 % 1000);
		range(s, begin, s->now += 5000, "step", PID, 0);
	}
}

static void start_end(struct shape *s, int64_t n)
{
	int64_t begin = s->now;
	for (int step = 0; step < STEPS; step++) {
		int64_t start = s->now;
		for (int64_t i = 0; i < n / 10 / STEPS + 1; i++)
			launch(s, &first_place, 1500);
		range(s, start, s->now += 1000, "step", PID, 0);
	}
	for (int64_t i = 0; i < n; i++) /* all of them are open in the middle */
		range(s, begin + i, s->now + i, i % 2 ? "request" : "transfer", PID, 1);
}

static void threads(struct shape *s, int64_t n)
{
	struct place at = first_place;
	for (int step = 0; step < STEPS; step++) {
		int64_t begin = s->now;
		for (int64_t i = 0; i < n / STEPS; i++) {
			int64_t start = s->now;
			at.tid++;
			launch(s, &at, 1500);
			range(s, start, s->now, "work", at.tid, 0);
		}
		launch(s, &first_place, 1500);
		range(s, begin, s->now += 1000, "step", PID, 0);
	}
}

static void processes(struct shape *s, int64_t n)
{
	enum { KERNELS = 50 };
	for (int64_t p = 0; p < n; p++) {
		file_process(s->file, PID + p, "worker");
		file_device(s->file, PID + p, 0, 0);
	}
	for (int i = 0; i < KERNELS; i++)
		for (int64_t p = 0; p < n; p++) {
			struct place at = {PID + p, PID + p, 0, 7, 0};
			struct file_range row = {.start = s->now, .thread = file_tid(at.pid, at.tid), .text = "step"};
			launch(s, &at, 1500);
			row.end = s->now;
			file_nvtx(s->file, &row);
		}
}

static void kernels(struct shape *s, int64_t n)
{
	char text[32];
	struct place at = first_place;
	for (int step = 0; step < STEPS; step++) {
		int64_t begin = s->now;
		for (int64_t i = n * step / STEPS; i < n * (step + 1) / STEPS; i++) {
			at.kernel = file_string(s->file, letters(i, text));
			launch(s, &at, 1500);
		}
		range(s, begin, s->now += 5000, "step", PID, 0);
	}
}

static void os_calls(struct shape *s, int64_t n)
{
	int64_t wait = file_string(s->file, "pthread_cond_wait");
	struct place at = first_place;
	for (int64_t i = 0; i < n; i++) {
		at.tid = PID + i;
		struct file_call call = {s->now + 2100, s->now + n * 3000, file_tid(PID, at.tid), 0, wait};
		file_os_call(s->file, &call);
		launch(s, &at, 500);
		s->now += 1000;
	}
}

static void syncs(struct shape *s, int64_t n)
{
	int64_t alloc = file_string(s->file, "cudaMalloc_v3020"), begin = s->now;
	for (int64_t i = 0; i < n; i++) {
		struct file_call call = {s->now, s->now + 5000, file_tid(PID, PID), ++s->correlation, s->copy};
		struct file_op op = {.start = s->now + 2000,
		                     .end = s->now + 4000,
		                     .process = file_pid(PID),
		                     .stream = 7,
		                     .correlation = s->correlation,
		                     .bytes = 64,
		                     .copy = 2,
		                     .from_kind = 2};
		file_cuda_call(s->file, &call);
		file_copy(s->file, &op);
		s->now += 6000;
	}
	struct file_call call = {begin, s->now, file_tid(PID, PID), ++s->correlation, alloc};
	file_cuda_call(s->file, &call);
}

static void steps(struct shape *s, int64_t n)
{
	char text[32];
	for (int64_t i = 0; i < n; i++) {
		int64_t begin = s->now;
		launch(s, &first_place, 1500 + i * 7919 % 100);
		s->now += 3000;
		snprintf(text, sizeof text, "step_%lld", (long long)i);
		range(s, begin, s->now, text, PID, 0);
	}
}

/* N kernels of one call, one behind the other. */
static void graph(struct shape *s, int64_t n, int names)
{
	char text[32];
	struct file_call call = {s->now, s->now + 2000, file_tid(PID, PID), ++s->correlation, s->launch};
	file_cuda_call(s->file, &call);
	s->now = call.end + 1000;
	for (int64_t i = 0; i < n; i++) {
		struct file_op op = {.start = s->now,
		                     .end = s->now + 1000,
		                     .process = file_pid(PID),
		                     .stream = 7,
		                     .correlation = s->correlation,
		                     .name = file_string(s->file, letters(i % names, text))};
		file_kernel(s->file, &op);
		s->now = op.end + 100;
	}
}

static void one_launch(struct shape *s, int64_t n)
{
	graph(s, n, 8);
}

static void one_name(struct shape *s, int64_t n)
{
	graph(s, n, 1);
}

static void one_time(struct shape *s, int64_t n)
{
	int64_t begin = s->now;
	for (int64_t i = 0; i < n; i++) {
		struct place at = {PID, PID + i % 100, 0, (int)(i % 50), 0};
		s->now = begin;
		launch(s, &at, 1000);
	}
}

int shape_write(const char *name, int64_t n, struct profile_file *file)
{
	static const struct {
		const char *name;
		void (*write)(struct shape *s, int64_t n);
	} shapes[] = {
		{"names", names},         {"nesting", nesting},       {"streams", streams},   {"one-step", one_step},
		{"long-step", long_step}, {"start-end", start_end},   {"threads", threads},   {"processes", processes},
		{"kernels", kernels},     {"os-calls", os_calls},     {"syncs", syncs},       {"steps", steps},
		{"renamed", renamed},     {"one-launch", one_launch}, {"one-name", one_name}, {"one-time", one_time},
	};
	struct shape s = {.file = file, .now = 1000000};
	s.launch = file_string(file, "cudaLaunchKernel_v7000");
	s.copy = file_string(file, "cudaMemcpy_v3020");
	s.kernel = file_string(file, "kernel(float *)");
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		if (strcmp(shapes[i].name, name) == 0) {
			file_gpu(file, 0);
			shapes[i].write(&s, n);
			return 0;
		}
	return -1;
}
