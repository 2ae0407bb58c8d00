#include "base/memory.h"
#include "base/opt.h"
#include "capture/target.h"
#include "cmd/cmd.h"
#include "cmd/page.h"
#include "say/say.h"

#include <fcntl.h>
#include <libxml/parser.h>
#include <libxml/xmlmemory.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What the libraries are told before any of them is used. */

static sqlite3_mem_methods usual;

static void *sqlite_take(int n)
{
	void *p = usual.xMalloc(n);
	if (!p)
		memory_exhausted();
	return p;
}

static void *sqlite_resize(void *old, int n)
{
	void *p = usual.xRealloc(old, n);
	if (!p)
		memory_exhausted();
	return p;
}

static void libraries_prepare(void)
{
	xmlMemSetup(free, memory_take, memory_resize, memory_copy);
	xmlInitParser(); /* here, where no output waits for an error: where memory ends in it, it keeps its lock */
	if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual) != SQLITE_OK)
		return;
	sqlite3_mem_methods ours = usual;
	ours.xMalloc = sqlite_take;
	ours.xRealloc = sqlite_resize;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
	/* Nobody asks how much memory SQLite has: it need not count, which costs every thread a lock each time. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static void add_general_help(struct buf *out)
{
	const struct opt_usage usage = cmd_describe("gapline", NULL, 0);
	opt_usage_lines(&usage, out);
	buf_text(out, "\n");
	opt_wrap(out, usage.about, 0, OPT_COLUMNS);
	buf_text(out, "\ncommands:\n");
	for (const struct cmd *c = cmd_table; c->name; c++)
		buf_format(out, "  %-10s %s\n", c->name, say_help(c->name)->does);
	buf_format(out, "\nexample:\n  %s\n\n'gapline help COMMAND' tells its options and the exit statuses.\n",
	           *usage.examples);
}

static int general_help(void)
{
	BUF_LOCAL(help);
	add_general_help(&help);
	return cmd_print(help.data, help.n);
}

static int unknown_command(const char *name)
{
	static const char *const options[] = {"--help", "--version"};
	struct err err;
	const struct cmd *c = cmd_table;
	while (c->name && !opt_near(name, c->name))
		c++;
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (opt_near(name, options[i])) {
			err_set(&err, "there is no option '%s'; did you mean %s?", name, options[i]);
			return cmd_fail(CMD_WRONG_USAGE, &err);
		}
	if (*name == '-')
		err_set(&err, "a command comes first, and '%s' is none; 'gapline help' lists them", name);
	else if (c->name)
		err_set(&err, "there is no command '%s'; did you mean %s?", name, c->name);
	else
		err_set(&err, "there is no command '%s'; 'gapline help' lists them", name);
	return cmd_fail(CMD_WRONG_USAGE, &err);
}

/* "gapline A B" compares, "gapline A" shows: files and sides of reports in the command's place, up to the first option.
 * No command has a dot or a slash in its name: such a name is of a file, which the command says is missing. */
static const struct cmd *command_for_files(int argc, char **argv)
{
	struct stat file;
	bool is_file = strpbrk(argv[1], "./") || !stat(argv[1], &file) || page_is_side(argv[1]);
	if (*argv[1] == '-' || !is_file)
		return NULL;
	return cmd_find(argc > 2 && *argv[2] != '-' ? "report" : "show");
}

static int help(int argc, char **argv)
{
	const char *name = NULL;
	bool json = false;
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--json"))
			json = true;
		else if (!name)
			name = argv[i];
	const struct cmd *c = name ? cmd_find(name) : NULL;
	if (name && !c)
		return unknown_command(name);
	if (json)
		return cmd_help_json(c);
	if (!name)
		return general_help();
	char *ask[] = {argv[1], (char[]){"--help"}, NULL};
	return c->run(2, ask);
}

/* A standard descriptor that was closed by whoever started us would be the next file that is opened, and messages would
 * go into a profile. What stands in for it fails as a closed one does: it is open for the other direction. */
static void hold_standard_descriptors(void)
{
	static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) < 0)
			return;
}

/* Where no command parses the options: `gapline nonsense --errors json`. */
static bool errors_as_json(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--errors=json") ||
		    (!strcmp(argv[i], "--errors") && i + 1 < argc && !strcmp(argv[i + 1], "json")))
			return true;
	return false;
}

static int run(int argc, char **argv)
{
	cmd_error_line(NULL, NULL, errors_as_json(argc, argv));
	if (argc < 2) {
		struct err err;
		BUF_LOCAL(text);
		err_set(&err, "a command is needed");
		cmd_fail(CMD_WRONG_USAGE, &err);
		add_general_help(&text);
		fputs(text.data, stderr);
		return CMD_WRONG_USAGE;
	}
	const char *name = argv[1];
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		return general_help();
	if (!strcmp(name, "help"))
		return help(argc - 1, argv + 1);
	if (!strcmp(name, "--version"))
		return cmd_print("gapline " GAPLINE_VERSION "\n", sizeof "gapline " GAPLINE_VERSION);
	if (!strcmp(name, TARGET_ARGUMENT))
		return target_main(argc - 1, argv + 1);
	const struct cmd *c = cmd_find(name), *files = c ? NULL : command_for_files(argc, argv);
	if (files)
		return files->run(argc, argv);
	return c ? c->run(argc - 1, argv + 1) : unknown_command(name);
}

int main(int argc, char **argv)
{
	hold_standard_descriptors();
	libraries_prepare();
	return cmd_end(run(argc, argv));
}
