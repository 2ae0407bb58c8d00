/* What tells one file of a parallel job from another: when its time 0 was, on which host, in which job, as which rank.
 * Host names and the environment are looked at here and nowhere else, and nothing but numbers and digests leaves. */
#include "base/launcher.h"
#include "read/name_hash.h"
#include "read/nsys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Where rows contradict each other, their order decides nothing. */
static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int read_start(struct nsys *r)
{
	static const char *const columns[] = {"utcEpochNs"};
	struct scan s;
	scan_open(&s, &r->db, "TARGET_INFO_SESSION_START_TIME", columns, 1);
	while (scan_row(&s)) {
		int64_t time = scan_int_or(&s, 0, 0);
		if (time > 0 && (r->trace->source.started == TRACE_NO_TIME || time < r->trace->source.started))
			r->trace->source.started = time;
	}
	return scan_close(&s);
}

/* ---- the environment, as launchers set it for each process ---- */

enum { RANKS_MAX = 10000000 };

struct found {
	uint64_t job[LAUNCHER_VARIABLES];
	int32_t number[LAUNCHER_VARIABLES]; /* -1: not set */
};

/* Notes the variables in a text "NAME=value", or many of them one after the other, however they are separated. */
static void look_at(const char *text, size_t n, struct found *found)
{
	for (size_t i = 0; i < n; i++) {
		if ((i && launcher_in_name(text[i - 1])) || !launcher_in_name(text[i]))
			continue;
		for (int v = 0; v < LAUNCHER_VARIABLES; v++) {
			size_t length = strlen(LAUNCHER[v].name), at = i + length + 1, end = at;
			if (at > n || memcmp(text + i, LAUNCHER[v].name, length) != 0 || text[i + length] != '=')
				continue;
			while (end < n && launcher_in_value(text[end]))
				end++;
			char *rest;
			char number[12];
			size_t digits = end - at < sizeof number ? end - at : 0;
			memcpy(number, text + at, digits);
			number[digits] = 0;
			long value = strtol(number, &rest, 10);
			if (digits && !*rest && value > found->number[v] && value < RANKS_MAX)
				found->number[v] = (int32_t)value;
			if (end > at)
				found->job[v] = greater(found->job[v], name_hash(text + i, end - i));
		}
	}
}

static void take(struct trace_source *source, const struct found *found)
{
	bool has_job = false;
	for (int v = 0; v < LAUNCHER_VARIABLES; v++) {
		if (LAUNCHER[v].use == LAUNCHER_RANK && source->rank < 0)
			source->rank = found->number[v];
		else if (LAUNCHER[v].use == LAUNCHER_RANKS && source->ranks < 0)
			source->ranks = found->number[v];
		else if (LAUNCHER[v].use == LAUNCHER_JOB && found->job[v] && !has_job) {
			source->job = found->job[v];
			has_job = true;
		}
	}
	if (source->ranks == 0 || (source->ranks > 0 && source->rank >= source->ranks))
		source->rank = source->ranks = -1;
}

static bool ends_with(const char *text, size_t n, const char *end)
{
	size_t m = strlen(end);
	return n >= m && memcmp(text + n - m, end, m) == 0;
}

static int read_names(struct nsys *r, const char *table, struct found *found)
{
	struct scan s;
	struct scan_option o;
	scan_open_options(&s, &r->db, table);
	while (scan_option(&s, &o)) {
		bool host = strcmp(o.name, "Hostname") == 0 || strcmp(o.name, "HostName") == 0;
		if (o.n && host)
			r->trace->source.host = greater(r->trace->source.host, name_hash_host(o.value, o.n));
		else if (ends_with(o.name, o.name_n, "DeviceEnvironment") ||
		         ends_with(o.name, o.name_n, "ENVIRONMENT_VARIABLE"))
			look_at(o.value, o.n, found);
	}
	return scan_close(&s);
}

/* What gapline noted of its own environment when it captured (capture/annotate.h). */
static int read_job(struct nsys *r, struct found *found)
{
	struct scan s;
	struct scan_option o;
	scan_open_options(&s, &r->db, "GAPLINE_JOB");
	while (scan_option(&s, &o)) {
		if (!o.n || strlen(o.name) != o.name_n || o.name_n + o.n > 2 * (size_t)LAUNCHER_VALUE_MAX)
			continue;
		if (strcmp(o.name, "host") == 0) {
			r->trace->source.host = name_hash_host(o.value, o.n);
			continue;
		}
		char text[2 * LAUNCHER_VALUE_MAX + 2];
		int length = snprintf(text, sizeof text, "%s=%s", o.name, o.value);
		look_at(text, (size_t)length, found);
	}
	return scan_close(&s);
}

/* ---- tables that say it of each process ---- */

/* `owner`: the column of global ids, of the process or of a thread of it. */
static int read_table(struct nsys *r, const char *table, const char *owner)
{
	enum { OWNER, RANK, N };
	const char *const columns[] = {owner, "rank"};
	struct trace *t = r->trace;
	struct scan s;
	scan_open(&s, &r->db, table, columns, N);
	while (scan_row(&s)) {
		int64_t id = scan_int(&s, OWNER), rank = scan_int(&s, RANK);
		if (s.flaws || rank < 0 || rank >= RANKS_MAX)
			continue;
		uint32_t p = build_find_process(&r->build, nsys_process_key(id));
		if (p != TRACE_NONE && t->processes[p].rank < rank)
			t->processes[p].rank = (int32_t)rank;
	}
	return scan_close(&s);
}

int nsys_read_ranks(struct nsys *r)
{
	struct trace *t = r->trace;
	struct found found = {0};
	for (int v = 0; v < LAUNCHER_VARIABLES; v++)
		found.number[v] = -1;
	if (read_start(r) != 0 || read_names(r, "TARGET_INFO_SYSTEM_ENV", &found) != 0 ||
	    read_names(r, "META_DATA_CAPTURE", &found) != 0 || read_job(r, &found) != 0 ||
	    read_table(r, "MPI_RANKS", "globalTid") != 0 || read_table(r, "GAPLINE_RANK", "globalPid") != 0)
		return -1;
	take(&t->source, &found);
	return 0;
}

/* A program's workers have the rank of the program in their environment: of several processes with GPU work that have
 * one number it is nobody's. */
static void drop_common(struct trace *t)
{
	bool common = false;
	for (uint32_t d = 1; d < t->n_devices; d++)
		for (uint32_t e = 0; e < d; e++)
			common |= t->devices[d].process != t->devices[e].process &&
			          t->processes[t->devices[d].process].rank >= 0 &&
			          t->processes[t->devices[d].process].rank == t->processes[t->devices[e].process].rank;
	for (uint32_t p = 0; common && p < t->n_processes; p++)
		t->processes[p].rank = -1;
}

/* The environment is that of the program which nsys started: its rank, unless that is a launcher of several. */
void nsys_give_ranks(struct nsys *r)
{
	struct trace *t = r->trace;
	uint32_t process = TRACE_NONE;
	drop_common(t);
	bool one = t->n_devices > 0;
	for (uint32_t p = 0; p < t->n_processes; p++)
		t->processes[p].host = t->source.host;
	for (uint32_t d = 0; d < t->n_devices; d++) {
		one = one && (process == TRACE_NONE || t->devices[d].process == process);
		process = t->devices[d].process;
	}
	if (one && t->processes[process].rank < 0)
		t->processes[process].rank = t->source.rank;
}

/* One that `gapline scrub` made counts GPUs: nothing but its last digits is not 0. */
static bool is_made(const char *uuid)
{
	size_t digits = 0;
	for (const char *c = uuid; *c; c++)
		if (*c != '-' && ++digits <= 24 && *c != '0')
			return false;
	return digits == 32;
}

/* A UUID is a GPU's own (of a part of one, where it is parted); a place on the bus is, on one host. */
uint64_t nsys_gpu_id(const struct nsys *r, const char *uuid, const char *bus)
{
	uuid += strncasecmp(uuid, "GPU-", 4) == 0 || strncasecmp(uuid, "MIG-", 4) == 0 ? 4 : 0;
	if (*uuid && !is_made(uuid))
		return name_hash(uuid, strlen(uuid)) & ~(uint64_t)TRACE_GPU_BY_PLACE;
	return *bus && r->trace->source.host
	               ? (name_hash(bus, strlen(bus)) ^ r->trace->source.host) | TRACE_GPU_BY_PLACE
	               : 0;
}
