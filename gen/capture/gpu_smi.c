/* Samples by the nvidia-smi command, where the library cannot be loaded. A run of it takes from a few dozen
 * milliseconds to seconds, so it is started at one sample and read at the next, and the program that is profiled never
 * waits. */
#include "capture/gpu_source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { OUTPUT_MAX = 64 * 1024, OPEN_MS = 10 * 1000, CLOSE_MS = 2000 };

struct child {
	pid_t pid; /* 0: none */
	int output;
	int64_t started;
	char text[OUTPUT_MAX];
	size_t n;
};

struct source {
	struct gpu_state_source common; /* first */
	const char *query;
	uint32_t index[GPU_STATE_GPUS_MAX]; /* by our number: the driver's */
	struct child child;
};

enum { INDEX, UUID, BUS, NAME, DRIVER, MAX_SM, SM, MEMORY, POWER, TEMPERATURE, USED, THROTTLE, COLUMNS };
#define QUERY                                                                                                          \
	"--query-gpu=index,uuid,pci.bus_id,name,driver_version,clocks.max.sm,clocks.sm,clocks.mem,power.draw,"         \
	"temperature.gpu,"                                                                                             \
	"utilization.gpu,"
/* The last column was renamed in 2023; each version refuses a name that it does not know. */
static const char *const queries[] = {QUERY "clocks_event_reasons.active", QUERY "clocks_throttle_reasons.active"};

/* ---- the command ---- */

static bool start(struct child *child, const char *query)
{
	static const char program[] = "nvidia-smi";
	char *const argv[] = {(char *)program, (char *)query, (char *)"--format=csv,noheader,nounits", NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t signals;
	int ends[2];
	*child = (struct child){.started = gpu_clock()};
	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	/* A group of its own, so that Ctrl-C is for gapline to handle; signals as a new program expects them. */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&attributes, 0);
	sigemptyset(&signals);
	posix_spawnattr_setsigmask(&attributes, &signals);
	sigfillset(&signals);
	posix_spawnattr_setsigdefault(&attributes, &signals);
	int code = posix_spawnp(&child->pid, program, &files, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	close(ends[1]);
	if (code != 0) {
		child->pid = 0;
		close(ends[0]);
		return false;
	}
	child->output = ends[0];
	return true;
}

/* Takes what has been printed. Returns whether that is all: the command has closed its output or prints too much. */
static bool take(struct child *child)
{
	while (child->n < OUTPUT_MAX - 1) {
		ssize_t n = read(child->output, child->text + child->n, OUTPUT_MAX - 1 - child->n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno != EAGAIN;
		if (n == 0)
			return true;
		child->n += (size_t)n;
	}
	return true;
}

/* Waits at most `ms` for the rest of the output; false: it takes longer. */
static bool wait_output(struct child *child, int ms)
{
	int64_t until = gpu_clock() + (int64_t)ms * 1000000;
	for (;;) {
		if (take(child))
			return true;
		int64_t left = until - gpu_clock();
		if (left <= 0)
			return false;
		struct pollfd end = {.fd = child->output, .events = POLLIN};
		poll(&end, 1, (int)(left / 1000000) + 1);
	}
}

/* Ends the command if it is still there. Returns whether it ended well. */
static bool end(struct child *child)
{
	int status = -1; /* of no success, where waiting fails */
	close(child->output);
	if (waitpid(child->pid, &status, WNOHANG) == 0) {
		status = -1;
		/* Its output is closed or no longer wanted: a moment to end by itself. */
		struct timespec moment = {.tv_nsec = 10L * 1000 * 1000};
		bool ended = false;
		for (int i = 0; i < 10 && !ended; i++) {
			nanosleep(&moment, NULL);
			ended = waitpid(child->pid, &status, WNOHANG) != 0;
		}
		if (!ended) {
			kill(child->pid, SIGKILL);
			while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
				;
			status = -1;
		}
	}
	child->pid = 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- what it prints ---- */

struct row {
	const char *text[COLUMNS];
	size_t n[COLUMNS];
};

/* The next line with as many columns as were asked for. `at` moves on; false: no more. A GPU's name has no comma. */
static bool next_row(const char **at, struct row *row)
{
	while (**at) {
		const char *line = *at, *stop = line + strcspn(line, "\n");
		*at = *stop ? stop + 1 : stop;
		int column = 0;
		for (const char *cell = line; column < COLUMNS; column++) {
			const char *comma = memchr(cell, ',', (size_t)(stop - cell)), *last = comma ? comma : stop;
			while (cell < last && (*cell == ' ' || *cell == '\t'))
				cell++;
			size_t n = (size_t)(last - cell);
			while (n && strchr(" \t\r", cell[n - 1]))
				n--;
			row->text[column] = cell;
			row->n[column] = n;
			if (!comma) {
				column++;
				break;
			}
			cell = comma + 1;
		}
		if (column == COLUMNS)
			return true;
	}
	return false;
}

/* The number in a cell times `scale`, or -1: "[N/A]", "[Not Supported]", "ERR!", an empty cell. */
static int number(const struct row *row, int column, int scale)
{
	char text[32], *stop;
	if (!row->n[column] || row->n[column] >= sizeof text)
		return -1;
	memcpy(text, row->text[column], row->n[column]);
	text[row->n[column]] = 0;
	if (text[0] < '0' || text[0] > '9')
		return -1;
	double value = strtod(text, &stop) * scale;
	return *stop || value > INT_MAX ? -1 : (int)(value + 0.5);
}

static bool reasons(const struct row *row, uint64_t *value)
{
	char text[32], *stop;
	if (row->n[THROTTLE] < 3 || row->n[THROTTLE] >= sizeof text || memcmp(row->text[THROTTLE], "0x", 2) != 0)
		return false;
	memcpy(text, row->text[THROTTLE], row->n[THROTTLE]);
	text[row->n[THROTTLE]] = 0;
	*value = strtoull(text, &stop, 16);
	return !*stop;
}

static void add_samples(struct gpu_state *state)
{
	struct source *s = (struct source *)state->open;
	const char *at = s->child.text;
	struct row row;
	while (next_row(&at, &row)) {
		int index = number(&row, INDEX, 1);
		uint32_t gpu = 0;
		while (gpu < state->n_gpus && (index < 0 || s->index[gpu] != (uint32_t)index))
			gpu++;
		if (gpu == state->n_gpus)
			continue;
		struct gpu_sample one = gpu_sample_at(s->child.started, gpu);
		one.sm_mhz = number(&row, SM, 1);
		one.memory_mhz = number(&row, MEMORY, 1);
		one.power_mw = number(&row, POWER, 1000);
		one.temperature_c = number(&row, TEMPERATURE, 1);
		one.busy_percent = number(&row, USED, 1);
		one.has_throttle = reasons(&row, &one.throttle);
		gpu_state_add(state, &one);
	}
}

static void identify(struct gpu_state *state, struct source *s)
{
	const char *at = s->child.text;
	struct row row;
	state->gpus = ARENA_NEW(state->arena, GPU_STATE_GPUS_MAX, struct gpu_identity);
	while (state->n_gpus < GPU_STATE_GPUS_MAX && next_row(&at, &row)) {
		int index = number(&row, INDEX, 1), most = number(&row, MAX_SM, 1);
		if (index < 0)
			continue;
		struct gpu_identity *gpu = &state->gpus[state->n_gpus];
		gpu_text(gpu->uuid, sizeof gpu->uuid, row.text[UUID], row.n[UUID]);
		gpu_text(gpu->bus, sizeof gpu->bus, row.text[BUS], row.n[BUS]);
		gpu_text(gpu->name, sizeof gpu->name, row.text[NAME], row.n[NAME]);
		gpu->max_sm_mhz = most > 0 ? most : 0;
		gpu->others = -1;
		if (row.n[DRIVER] && row.text[DRIVER][0] != '[')
			gpu_text(state->driver, sizeof state->driver, row.text[DRIVER], row.n[DRIVER]);
		s->index[state->n_gpus++] = (uint32_t)index;
	}
}

/* ---- the source ---- */

static void sample(struct gpu_state *state)
{
	struct source *s = (struct source *)state->open;
	if (s->child.pid) {
		if (!take(&s->child))
			return; /* a slow one: not two at a time */
		if (end(&s->child))
			add_samples(state);
	}
	start(&s->child, s->query);
}

static void close_source(struct gpu_state *state)
{
	struct source *s = (struct source *)state->open;
	if (!s->child.pid)
		return;
	bool whole = wait_output(&s->child, CLOSE_MS);
	if (end(&s->child) && whole)
		add_samples(state);
}

bool gpu_smi_open(struct gpu_state *state)
{
	struct source *s = ARENA_NEW(state->arena, 1, struct source);
	for (size_t i = 0; i < sizeof queries / sizeof *queries && !state->n_gpus; i++) {
		if (!start(&s->child, queries[i]))
			return false;
		bool whole = wait_output(&s->child, OPEN_MS);
		if (!end(&s->child) || !whole)
			continue;
		s->query = queries[i];
		identify(state, s);
	}
	if (!state->n_gpus)
		return false;
	s->common = (struct gpu_state_source){sample, close_source};
	state->open = &s->common;
	state->source = "nvidia-smi";
	return true;
}
