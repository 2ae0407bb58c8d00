#include "capture/nsys_words.h"

#include <string.h>

enum { LINE_MAX_SHOWN = 300 };
#define NO_SPACE "No space left"

const char *nsys_version(const char *said, struct arena *arena)
{
	const char *at = strstr(said, "version ");
	if (!at)
		return "";
	at += strlen("version ");
	return arena_copy(arena, at, strspn(at, "0123456789.-abcdefghijklmnopqrstuvwxyz"));
}

bool nsys_has_option(const char *help, const char *option)
{
	size_t n = strlen(option);
	for (const char *at = help; (at = strstr(at, option)); at += n)
		if (strchr("= \n[<,", at[n]))
			return true;
	return false;
}

static bool begins(const char *line, size_t n, const char *with)
{
	size_t m = strlen(with);
	return n >= m && !memcmp(line, with, m);
}

static bool tells(const char *line, size_t n)
{
	static const char *const habits[] = {
		"Generating",       "Generated",     "Processing",       "Saving", "Collecting data",
		"Exporting",        "Importing",     "Capture range st", "Stop",   "The application",
		"Report file",      "Exported succ", "Saved report",     "[1/",    "Creating final",
		"Capture range en",
	};
	if (!n || *line == '/' || memchr(line, '%', n))
		return false;
	for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
		if (begins(line, n, habits[i]))
			return false;
	return true;
}

const char *nsys_next_line(const char **at, struct arena *arena)
{
	while (**at) {
		const char *line = *at + strspn(*at, " \t\r\n");
		size_t n = strcspn(line, "\r\n");
		*at = line + n;
		if (tells(line, n))
			return arena_copy(arena, line, n < LINE_MAX_SHOWN ? n : LINE_MAX_SHOWN);
	}
	return NULL;
}

const char *nsys_last_line(const char *said, struct arena *arena)
{
	const char *last = "";
	for (const char *line; (line = nsys_next_line(&said, arena));)
		last = line;
	return last;
}

bool nsys_found_no_space(const char *said)
{
	return strstr(said, NO_SPACE);
}

bool nsys_knows_payloads(const char *said)
{
	return !strstr(said, "include-blobs");
}

const char *nsys_explain(const char *said)
{
	static const struct {
		const char *words, *means;
	} known[] = {
		{"unrecognised option", "it does not know an option that gapline gave; another version may"},
		{"unrecognized option", "it does not know an option that gapline gave; another version may"},
		{"ptrace", "it may not trace processes here; give the container --cap-add=SYS_PTRACE, or take "
	                   "--collector cupti, which needs no privilege"},
		{"perf_event", "it may not use performance events here; take --collector cupti, which needs no "
	                       "privilege, or give the container --cap-add=SYS_ADMIN"},
		{"Operation not permitted",
	         "something was refused; take --collector cupti, which needs no privilege, or "
	         "give the container --cap-add=SYS_ADMIN"},
		{"Permission denied", "a file or folder was refused, often the temporary folder of another user; set "
	                              "TMPDIR to one of your own"},
		{NO_SPACE, "the disk is full"},
		{"already running", "another nsys session runs here"},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strstr(said, known[i].words))
			return known[i].means;
	return NULL;
}
