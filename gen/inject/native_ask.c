#include "native.h"

#include "base/search.h"
#include "py.h"
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { SIGNAL = SIGURG, QUESTIONS = 64 };

static struct question {
	_Atomic uint64_t answered; /* the number of the question that the answer is of */
	uintptr_t low, high;
	struct native_answer answer;
} questions[QUESTIONS];
static _Atomic uint64_t latest;

/* ---- in the thread that is asked ---- */

/* By itself, so that it can be told from everything else: the linker says where a section of such a name is. */
#define ANSWERING __attribute__((section("gapline_answer"), noinline, used))
extern const char __start_gapline_answer[], __stop_gapline_answer[];

static inline __attribute__((always_inline)) void registers(const ucontext_t *context, struct native_answer *a,
                                                            uintptr_t *frame)
{
	const mcontext_t *m = &context->uc_mcontext;
#if defined __x86_64__
	a->pc = (uintptr_t)m->gregs[REG_RIP];
	a->sp = (uintptr_t)m->gregs[REG_RSP];
	a->result = (uint64_t)m->gregs[REG_RAX];
	*frame = (uintptr_t)m->gregs[REG_RBP];
	__asm__("mov %%fs:0, %0" : "=r"(a->pointer)); /* gcc 10 has no __builtin_thread_pointer here */
#elif defined __aarch64__
	a->pc = m->pc;
	a->sp = m->sp;
	a->result = m->regs[0];
	*frame = m->regs[29];
	a->pointer = (uintptr_t)__builtin_thread_pointer();
#else
#error "this processor's registers are not known"
#endif
}

/* Calls nothing, and reads nothing but what lies between the stack's pointer and its end, all of which is there. */
static ANSWERING void answer(int number, siginfo_t *info, void *context)
{
	(void)number;
	uint64_t asked = (uint64_t)(uintptr_t)info->si_value.sival_ptr, now = atomic_load(&latest);
	if (info->si_code != SI_QUEUE || !asked || asked > now || now - asked >= QUESTIONS)
		return;
	struct question *q = &questions[asked % QUESTIONS];
	uintptr_t frame;
	registers(context, &q->answer, &frame);
	uint32_t n = 0;
	if (q->answer.sp >= q->low && q->answer.sp < q->high)
		for (uintptr_t least = q->answer.sp; n < NATIVE_DEPTH_MOST && frame % sizeof frame == 0 &&
		                                     frame >= least && frame < q->high &&
		                                     q->high - frame >= 2 * sizeof frame;) {
			const uintptr_t *at = (const uintptr_t *)frame;
			q->answer.back[n++] = at[1];
			least = frame + 2 * sizeof frame;
			frame = at[0];
		}
	q->answer.n = n;
	atomic_store_explicit(&q->answered, asked, memory_order_release);
}

/* ---- in the thread that asks ---- */

bool native_ask_begin(void)
{
	struct sigaction was, ours = {.sa_sigaction = answer};
	/* SA_NODEFER: a thread that loses its processor inside the handler does not look like one that blocks it. */
	ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | SA_NODEFER;
	if (sigaction(SIGNAL, NULL, &was))
		return false;
	if ((was.sa_flags & SA_SIGINFO) && was.sa_sigaction == answer)
		return true;
	if ((was.sa_flags & SA_SIGINFO) || was.sa_handler != SIG_DFL)
		return false;
	sigemptyset(&ours.sa_mask);
	return !sigaction(SIGNAL, &ours, NULL);
}

bool native_ask_holds(void)
{
	struct sigaction is;
	return !sigaction(SIGNAL, NULL, &is) && (is.sa_flags & SA_SIGINFO) && is.sa_sigaction == answer;
}

uint64_t native_ask(uint32_t tid, uintptr_t low, uintptr_t high)
{
	uint64_t number = atomic_load(&latest) + 1;
	struct question *q = &questions[number % QUESTIONS];
	siginfo_t info;
	memset(&info, 0, sizeof info);
	info.si_signo = SIGNAL;
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_ptr = (void *)(uintptr_t)number; // NOLINT(performance-no-int-to-ptr): a number
	atomic_store(&q->answered, 0);
	q->low = low;
	q->high = high;
	atomic_store(&latest, number);
	return syscall(SYS_rt_tgsigqueueinfo, info.si_pid, tid, SIGNAL, &info) ? 0 : number;
}

bool native_answered(uint64_t question, struct native_answer *a)
{
	struct question *q = &questions[question % QUESTIONS];
	if (atomic_load_explicit(&q->answered, memory_order_acquire) != question)
		return false;
	*a = q->answer;
	return true;
}

enum native_where native_where(uint32_t tid, struct native_answer *a)
{
	char text[256], *end;
	*a = (struct native_answer){0};
	if (!py_task_file(tid, "syscall", text, sizeof text))
		return NATIVE_UNKNOWN;
	if (!strncmp(text, "running", 7))
		return NATIVE_RUNS;
	/* Its number, which is -1 where it waits in none (for a page), six arguments then or nothing, sp and pc. */
	long call = strtol(text, &end, 10);
	for (int skip = call >= 0 ? 6 : 0; skip > 0; skip--)
		strtoull(end, &end, 16);
	a->sp = strtoull(end, &end, 16);
	a->pc = strtoull(end, &end, 16);
	return a->pc && a->sp ? NATIVE_WAITS : NATIVE_UNKNOWN;
}

bool native_held_back(uint32_t tid)
{
	static char text[4096];
	const char *at = py_task_file(tid, "status", text, sizeof text) ? strstr(text, "\nSigBlk:") : NULL;
	return !at || strtoull(at + strlen("\nSigBlk:"), NULL, 16) >> (SIGNAL - 1) & 1;
}

bool native_answering(const struct native_answer *a)
{
	return a->pc >= (uintptr_t)__start_gapline_answer && a->pc < (uintptr_t)__stop_gapline_answer;
}

bool native_interrupted(const struct native_answer *a)
{
#if defined __x86_64__
	unsigned char code[2];
	return (int64_t)a->result == -EINTR && py_read(a->pc - sizeof code, code, sizeof code) && code[0] == 0x0F &&
	       code[1] == 0x05;
#else
	uint32_t code;
	return (int64_t)a->result == -EINTR && py_read(a->pc - sizeof code, &code, sizeof code) && code == 0xD4000001;
#endif
}

enum { MAPS_MOST = 8192, MODULES_MOST = 4096, TEXT_BYTES = 1 << 20, READ_BYTES = 1 << 16 };

/* Programs load and unload libraries: what was read is believed for so long, and where an address is not in it, it is
 * read again, but not more often than that. */
static const int64_t OLD_NS = 10000000000, AGAIN_NS = 200000000;

static struct tables {
	struct map {
		uintptr_t start, end;
		uint64_t offset;
		uint32_t module;
	} maps[MAPS_MOST]; /* with code, by address */
	struct {
		uint32_t path; /* of `text` */
		uint64_t inode;
		bool named;
	} modules[MODULES_MOST];
	char text[TEXT_BYTES];
	char read[READ_BYTES];
} * tables;
static uint32_t n_maps, n_modules, text_used;
static int64_t read_at;

void native_maps_forget(void)
{
	table_unmap(tables, sizeof *tables);
	tables = NULL;
	n_maps = n_modules = text_used = 0;
	read_at = 0;
}

/* ---- lines of the kernel's list ---- */

struct line {
	uintptr_t start, end;
	char allowed[5]; /* "r-xp" */
	uint64_t offset, inode;
	const char *path;
};

/* Cuts a line into its parts: "start-end rwxp offset device inode   path". */
static bool line_read(char *text, struct line *line)
{
	char *at = text;
	line->start = strtoull(at, &at, 16);
	if (*at++ != '-')
		return false;
	line->end = strtoull(at, &at, 16);
	if (*at++ != ' ' || strnlen(at, 5) < 5)
		return false;
	memcpy(line->allowed, at, 4);
	line->allowed[4] = 0;
	line->offset = strtoull(at + 5, &at, 16);
	at += strspn(at, " ");
	at += strcspn(at, " "); /* the device */
	line->inode = strtoull(at, &at, 10);
	line->path = at + strspn(at, " ");
	return line->end > line->start;
}

/* Calls `each` for every line until it says that it has what it wants. False: the list cannot be read. */
static bool lines(bool (*each)(void *context, const struct line *line), void *context)
{
	if (!tables && !(tables = table_map(sizeof *tables)))
		return false;
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC), n = 0;
	size_t kept = 0;
	bool done = false;
	if (fd < 0)
		return false;
	while (!done && (n = syscall(SYS_read, fd, tables->read + kept, READ_BYTES - 1 - kept)) > 0) {
		char *at = tables->read, *end = at + kept + n, *stop;
		*end = 0;
		while (!done && (stop = memchr(at, '\n', (size_t)(end - at)))) {
			struct line line;
			*stop = 0;
			done = line_read(at, &line) && each(context, &line);
			at = stop + 1;
		}
		kept = (size_t)(end - at);
		memmove(tables->read, at, kept);
		if (kept == READ_BYTES - 1) /* no line is so long */
			break;
	}
	syscall(SYS_close, fd);
	return n >= 0;
}

/* ---- code ---- */

static uint32_t module_of(const struct line *line)
{
	static const char gone[] = " (deleted)";
	size_t n = strlen(line->path);
	if (n > sizeof gone && !strcmp(line->path + n - (sizeof gone - 1), gone))
		n -= sizeof gone - 1;
	for (uint32_t i = n_modules; i-- > 0;) {
		const char *known = tables->text + tables->modules[i].path;
		if (tables->modules[i].inode == line->inode && !strncmp(known, line->path, n) && !known[n])
			return i + 1;
	}
	if (n_modules == MODULES_MOST || n + 1 > TEXT_BYTES - text_used)
		return 0;
	memcpy(tables->text + text_used, line->path, n);
	tables->text[text_used + n] = 0;
	tables->modules[n_modules].path = text_used;
	tables->modules[n_modules].inode = line->inode;
	text_used += (uint32_t)n + 1;
	return ++n_modules;
}

static bool code_add(void *unused, const struct line *line)
{
	(void)unused;
	if (line->allowed[2] != 'x' || !*line->path)
		return false;
	uint32_t module = module_of(line);
	if (module)
		tables->maps[n_maps++] = (struct map){line->start, line->end, line->offset, module};
	return n_maps == MAPS_MOST;
}

static const struct map *find(uintptr_t address)
{
	uint32_t low = 0;
	SEARCH(low, n_maps, tables->maps[low].end <= address);
	return low < n_maps && tables->maps[low].start <= address ? &tables->maps[low] : NULL;
}

uint32_t native_module(uintptr_t address, int64_t now, uint64_t *offset, native_module_named *named)
{
	const struct map *map = find(address);
	if (!read_at || now - read_at > OLD_NS || (!map && now - read_at > AGAIN_NS)) {
		n_maps = 0;
		read_at = now;
		map = lines(code_add, NULL) ? find(address) : NULL;
	}
	if (!map)
		return 0;
	uint32_t i = map->module - 1;
	*offset = address - map->start + map->offset;
	if (!tables->modules[i].named)
		tables->modules[i].named =
			named(i + 1, tables->modules[i].inode, tables->text + tables->modules[i].path);
	return tables->modules[i].named ? i + 1 : 0;
}

/* ---- stacks ---- */

struct memory {
	uintptr_t address, low, high;
	bool stack;
};

static bool memory_is(void *context, const struct line *line)
{
	struct memory *m = context;
	if (m->address < line->start || m->address >= line->end)
		return false;
	if (line->allowed[0] == 'r' && line->allowed[1] == 'w') {
		m->low = line->start;
		m->high = line->end;
		m->stack = !strcmp(line->path, "[stack]");
	}
	return true;
}

bool native_memory(uintptr_t address, uintptr_t *low, uintptr_t *high, bool *stack)
{
	struct memory m = {.address = address};
	if (!lines(memory_is, &m) || !m.high)
		return false;
	*low = m.low;
	*high = m.high;
	*stack = m.stack;
	return true;
}
