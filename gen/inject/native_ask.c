#include "native_ask.h"

#include "py_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
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

/* A file of the kernel's about a thread: the beginning of it. By system calls themselves: gapline's other library looks
 * at the C library's functions. */
static bool about(uint32_t tid, const char *what, char *text, size_t room)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/task/%u/%s", tid, what);
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	long n = syscall(SYS_read, fd, text, room - 1);
	syscall(SYS_close, fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

enum native_where native_where(uint32_t tid, struct native_answer *a)
{
	char text[256], *end;
	*a = (struct native_answer){0};
	if (!about(tid, "syscall", text, sizeof text))
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
	const char *at = about(tid, "status", text, sizeof text) ? strstr(text, "\nSigBlk:") : NULL;
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
