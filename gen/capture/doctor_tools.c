/* The two collectors and what each needs: gapline's libraries and a CUPTI, or nsys. */
#include "capture/doctor.h"

#include "capture/collector.h"
#include "capture/find.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

enum { ASK_MS = 30000 };

/* ---- CUPTI ---- */

/* cuptiGetVersion counted one by one up to CUDA 12, and has been CUDA's own version times ten since (cupti_version.h).
 */
static int cuda_of_cupti(uint32_t version)
{
	return version >= 100000 ? (int)(version / 10000) : version >= 18 ? 12 : 11;
}

static const char *cupti_text(struct doctor *d, const char *path, uint32_t version)
{
	if (version >= 100000)
		return arena_format(d->arena, "%s, version %u.%u.%u", path, version / 10000, version % 10000 / 100,
		                    version % 100);
	return arena_format(d->arena, "%s, interface %u (CUDA %d)", path, version, cuda_of_cupti(version));
}

/* Whether the CUPTI that a program would get works with this driver. */
static bool check_cupti(struct doctor *d)
{
	static const char how[] = "install the package cuda-cupti of your CUDA version, or pip install "
				  "nvidia-cuda-cupti; GAPLINE_CUPTI names one that lies elsewhere";
	const char *path = find_cupti("python3", d->arena);
	if (!path) {
		doctor_say(d, DOCTOR_NOTE, "CUPTI",
		           "none in the usual places; programs that bring their own (PyTorch does) have one", how);
		return false;
	}
	path = arena_copy(d->arena, path, strcspn(path, ":")); /* the first of a list */
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*get_version)(uint32_t * version) = NULL;
	void *symbol = library ? dlsym(library, "cuptiGetVersion") : NULL;
	memcpy(&get_version, &symbol, sizeof symbol);
	uint32_t version = 0;
	if (!get_version || get_version(&version) != 0) {
		doctor_say(d, DOCTOR_NOTE, "CUPTI",
		           arena_format(d->arena, "%s cannot be used: %s", path,
		                        library ? "it does not tell its version" : "it cannot be loaded"),
		           how);
		return false;
	}
	const char *text = cupti_text(d, path, version);
	if (d->cuda && cuda_of_cupti(version) > d->cuda / 1000) {
		doctor_say(d, DOCTOR_NOTE, "CUPTI",
		           arena_format(d->arena, "%s, which is too new for a driver for CUDA %d.%d", text,
		                        d->cuda / 1000, d->cuda % 1000 / 10),
		           arena_format(d->arena, "install the CUPTI of CUDA %d, and name it with GAPLINE_CUPTI",
		                        d->cuda / 1000));
		return false;
	}
	doctor_say(d, DOCTOR_OK, "CUPTI", text, "");
	return true;
}

static bool check_library(struct doctor *d)
{
	struct err err;
	struct collector cupti = {.type = &collector_cupti, .arena = d->arena};
	if (cupti.type->find(&cupti, &err)) {
		doctor_say(d, DOCTOR_NOTE, "collector", arena_copy(d->arena, err.text, strlen(err.text)), "");
		return false;
	}
	bool osrt = find_library("libgapline-osrt.so", d->arena) != NULL;
	doctor_say(d, DOCTOR_OK, "collector",
	           arena_format(d->arena, "%s%s", cupti.tool, osrt ? "" : "; --trace osrt is not in this build"), "");
	return true;
}

/* ---- nsys ---- */

/* Whether `nsys export` is in this installation and writes SQLite: what only records comes without it. */
static bool can_export(const char *nsys, struct arena *arena)
{
	const char *const argv[] = {nsys, "export", "--help", NULL};
	struct err ignored;
	int status;
	const char *said = collector_ask(argv, NULL, ASK_MS, arena, &status, &ignored);
	return said && status == 0 && strcasestr(said, "sqlite");
}

static bool check_nsys(struct doctor *d)
{
	struct err err;
	struct collector nsys = {.type = &collector_nsys, .arena = d->arena};
	if (nsys.type->find(&nsys, &err)) {
		doctor_say(d, DOCTOR_NOTE, "nsys", arena_copy(d->arena, err.text, strlen(err.text)), "");
		return false;
	}
	const char *text = arena_format(d->arena, "%s, version %s", nsys.tool, nsys.version);
	bool can = can_export(nsys.tool, d->arena);
	if (can)
		doctor_say(d, DOCTOR_OK, "nsys", text, "");
	else
		doctor_say(d, DOCTOR_NOTE, "nsys", arena_format(d->arena, "%s, without nsys export", text),
		           "install nsight-systems-cli as a whole; GAPLINE_NSYS names one that lies elsewhere");
	return can;
}

/* doctor_gpu.c */
static void doctor_collectors(struct doctor *d)
{
	bool library = check_library(d), cupti = check_cupti(d), nsys = check_nsys(d);
	d->can_cupti = library && cupti && d->cuda;
	d->can_nsys = nsys && d->cuda;
}

void doctor_say(struct doctor *d, enum doctor_level level, const char *what, const char *text, const char *advice)
{
	d->lines = arena_grow(d->arena, d->lines, d->n, d->n + 1, sizeof *d->lines);
	d->lines[d->n++] = (struct doctor_line){level, what, text, advice};
}

void doctor_examine(const struct doctor_places *places, struct arena *arena, struct doctor *out)
{
	*out = (struct doctor){.arena = arena, .container = ""};
	doctor_container(out, places);
	doctor_driver(out, places);
	doctor_gpus(out, places);
	doctor_collectors(out);
	doctor_permissions(out, places);
}
