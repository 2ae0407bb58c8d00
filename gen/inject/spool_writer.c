#include "spool_out.h"

#include "base/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MOST_MESSAGES = 16, HIGH_FD = 900, JOIN_S = 10 };

static const int64_t LOOK_NS = 1000000000; /* between looks for threads' names */

enum phase { PHASE_NONE, PHASE_STARTING, PHASE_RUNNING, PHASE_FINISHED };

static struct spool_library *library;
static char folder[PATH_MAX];
static int64_t window_start = INT64_MIN, window_stop = INT64_MAX;

static _Atomic int phase; /* enum phase */
/* What the background thread has to do before its next tick is due; a futex. */
enum { WAKE_NOT, WAKE_TO_WORK, WAKE_TO_STOP };
static _Atomic uint32_t wake;
static pthread_t thread;
static _Atomic uint32_t writer_tid;

/* The background thread's own. */
static int file = -1;
static dev_t file_device;
static ino_t file_inode;
static char file_path[PATH_MAX + 64];
static bool window_began, window_ended;

static struct {
	struct spool_message head;
	char text[512];
	_Atomic int ready;
} messages[MOST_MESSAGES];
static _Atomic uint32_t n_messages;
static uint32_t n_written_messages;

int64_t spool_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

bool spool_window(int64_t time)
{
	return time >= window_start && time < window_stop &&
	       !atomic_load_explicit(&library->shut, memory_order_relaxed);
}

bool spool_time_limited(void)
{
	return window_start != INT64_MIN || window_stop != INT64_MAX;
}

bool spool_time_touches(int64_t start, int64_t end)
{
	return end >= window_start && start < window_stop;
}

bool spool_is_writer(void)
{
	uint32_t writer = atomic_load_explicit(&writer_tid, memory_order_relaxed);
	return writer && writer == spool_tid();
}

static void forked(void)
{
	/* The file is the parent's; its background thread does not exist here. */
	if (file >= 0)
		close(file);
	file = -1;
	atomic_store(&phase, PHASE_NONE);
	atomic_store(&wake, WAKE_NOT);
	atomic_store(&writer_tid, 0);
	atomic_store(&n_messages, 0);
	n_written_messages = 0;
	memset(messages, 0, sizeof messages);
	window_began = window_ended = false;
	spool_threads_forget();
	spool_events_forked();
	if (library->forked)
		library->forked();
}

static void time_from(const char *name, int64_t *time)
{
	const char *text = getenv(name);
	char *end;
	if (!text || !*text)
		return;
	long long value = strtoll(text, &end, 10);
	if (!*end)
		*time = value;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare(void)
{
	const char *wanted = getenv(SPOOL_ENV_FOLDER);
	if (!wanted || !*wanted || !realpath(wanted, folder)) {
		folder[0] = 0;
		return;
	}
	time_from(SPOOL_ENV_START, &window_start);
	time_from(SPOOL_ENV_STOP, &window_stop);
	spool_events_prepare();
	pthread_atfork(NULL, NULL, forked);
}

bool spool_prepare(struct spool_library *of)
{
	library = of;
	pthread_once(&once, prepare);
	return folder[0];
}

/* ---- the file ---- */

/* What cannot be written here, gapline is told. The last process's word counts. */
static void note_failed(int error)
{
	char path[PATH_MAX + 16];
	const struct spool_failed failed = {error, (uint32_t)getpid()};
	snprintf(path, sizeof path, "%s/" SPOOL_FAILED, folder);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	ssize_t wrote = pwrite(fd, &failed, sizeof failed, 0);
	(void)wrote; /* then it is not told */
	close(fd);
}

static int file_begin(void)
{
	for (unsigned n = 0; n < 10000; n++) {
		snprintf(file_path, sizeof file_path, "%s/%d-%s-%u.spool", folder, (int)getpid(), library->name, n);
		int fd = open(file_path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0) {
			note_failed(errno);
			return -1;
		}
		/* Programs close or reuse low numbers that they believe to be free. */
		file = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
		if (file < 0)
			file = fd;
		else
			close(fd);
		break;
	}
	struct stat status;
	if (file < 0 || fstat(file, &status))
		return -1;
	file_device = status.st_dev;
	file_inode = status.st_ino;
	return 0;
}

/* A program that closes all files it finds closes ours; whatever it opens then must not get our blocks. */
static void file_check(void)
{
	struct stat status;
	if (file < 0 || (!fstat(file, &status) && status.st_dev == file_device && status.st_ino == file_inode))
		return;
	file = open(file_path, O_WRONLY | O_APPEND | O_CLOEXEC);
}

static void file_write(struct iovec *part, int n)
{
	while (file >= 0 && n) {
		ssize_t wrote = writev(file, part, n);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0) {
			/* The disk is full, say. What is there stays usable up to its last whole block. */
			note_failed(errno);
			close(file);
			file = -1;
			spool_events_close();
			return;
		}
		while (n && (size_t)wrote >= part->iov_len) {
			wrote -= (ssize_t)part->iov_len;
			part++;
			n--;
		}
		if (n) {
			part->iov_base = (char *)part->iov_base + wrote;
			part->iov_len -= (size_t)wrote;
		}
	}
}

void spool_put(uint32_t type, uint32_t tid, const void *head, size_t head_bytes, const void *rest, size_t rest_bytes)
{
	static const char zeros[8];
	struct spool_block block = {type, tid, head_bytes + rest_bytes};
	size_t padding = (8 - block.bytes % 8) % 8;
	struct iovec parts[4] = {{&block, sizeof block}};
	int n = 1;
	if (head_bytes)
		parts[n++] = (struct iovec){(void *)head, head_bytes};
	if (rest_bytes)
		parts[n++] = (struct iovec){(void *)rest, rest_bytes};
	if (padding)
		parts[n++] = (struct iovec){(void *)zeros, padding};
	file_write(parts, n);
}

static void program_put(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	if (n <= 0)
		return;
	path[n] = 0;
	const char *name = strrchr(path, '/');
	name = name ? name + 1 : path;
	spool_put(SPOOL_PROGRAM, 0, name, strlen(name), NULL, 0);
}

/* Of several processes of one capture each is told its own: gapline itself knows only what their launcher was told. */
static void rank_put(void)
{
	for (int v = 0; v < LAUNCHER_VARIABLES; v++) {
		const char *value = LAUNCHER[v].use == LAUNCHER_RANK ? launcher_value(&LAUNCHER[v]) : NULL;
		char *end;
		int64_t rank = value ? strtoll(value, &end, 10) : -1;
		if (rank >= 0 && !*end) {
			spool_put(SPOOL_RANK, 0, &rank, sizeof rank, NULL, 0);
			return;
		}
	}
}

static void header_put(void)
{
	struct timespec real;
	struct spool_header header = {.magic = SPOOL_MAGIC,
	                              .version = SPOOL_VERSION,
	                              .clock = SPOOL_MONOTONIC,
	                              .pid = (uint32_t)getpid(),
	                              .parent = (uint32_t)getppid(),
	                              .writer = atomic_load(&writer_tid)}; /* 0: the program's own thread, at its end */
	/* Halfway between two readings of the other clock. */
	int64_t before = spool_now();
	clock_gettime(CLOCK_REALTIME, &real);
	header.monotonic_ns = before + (spool_now() - before) / 2;
	header.realtime_ns = real.tv_sec * INT64_C(1000000000) + real.tv_nsec;
	struct iovec part = {&header, sizeof header};
	file_write(&part, 1);
}

/* ---- messages ---- */

void spool_message(enum spool_severity severity, enum spool_code code, const char *format, ...)
{
	uint32_t i = atomic_fetch_add(&n_messages, 1);
	if (i >= MOST_MESSAGES) {
		atomic_store(&n_messages, MOST_MESSAGES);
		return;
	}
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(messages[i].text, sizeof messages[i].text, format, arguments);
	va_end(arguments);
	messages[i].head = (struct spool_message){severity, code};
	atomic_store(&messages[i].ready, 1);
}

static void messages_put(void)
{
	while (n_written_messages < MOST_MESSAGES && atomic_load(&messages[n_written_messages].ready)) {
		const char *text = messages[n_written_messages].text;
		spool_put(SPOOL_MESSAGE, 0, &messages[n_written_messages].head, sizeof(struct spool_message), text,
		          strlen(text));
		n_written_messages++;
	}
}

/* ---- the background thread ---- */

static void window_put(void)
{
	int64_t now = spool_now();
	if (window_start != INT64_MIN && now >= window_start && !window_began) {
		struct spool_window window = {1, 1, window_start};
		spool_put(SPOOL_WINDOW, 0, &window, sizeof window, NULL, 0);
		window_began = true;
	}
	if (now >= window_stop && !window_ended) {
		struct spool_window window = {0, 1, window_stop};
		spool_put(SPOOL_WINDOW, 0, &window, sizeof window, NULL, 0);
		window_ended = true;
	}
}

static void work(bool last)
{
	file_check();
	window_put();
	if (library->tick)
		library->tick(last);
	spool_events_drain();
	messages_put();
}

static int begin(void)
{
	if (file_begin())
		return -1;
	header_put();
	program_put();
	rank_put();
	if (library->begun)
		library->begun();
	return 0;
}

static void finish(void)
{
	int64_t now = spool_now();
	spool_events_close();
	work(true);
	spool_threads_look();
	spool_put(SPOOL_END, 0, &now, sizeof now, NULL, 0);
	if (file >= 0)
		close(file);
	file = -1;
}

static void *background(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "gapline");
	atomic_store(&writer_tid, spool_tid());
	if (begin()) {
		spool_events_close();
		return NULL;
	}
	int64_t looked = spool_now();
	for (;;) {
		struct timespec wait = {0, SPOOL_TICK_MS * 1000000L};
		uint32_t hurried = WAKE_TO_WORK;
		syscall(SYS_futex, &wake, FUTEX_WAIT_PRIVATE, WAKE_NOT, &wait, NULL, 0);
		atomic_compare_exchange_strong(&wake, &hurried, WAKE_NOT);
		if (hurried == WAKE_TO_STOP)
			break;
		work(false);
		if (spool_now() - looked >= LOOK_NS) {
			spool_threads_look();
			looked = spool_now();
		}
	}
	finish();
	return NULL;
}

void spool_hurry(void)
{
	uint32_t none = WAKE_NOT;
	if (atomic_compare_exchange_strong(&wake, &none, WAKE_TO_WORK))
		syscall(SYS_futex, &wake, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

int spool_start(void)
{
	int none = PHASE_NONE;
	if (atomic_load_explicit(&phase, memory_order_acquire) != PHASE_NONE)
		return 0;
	if (!atomic_compare_exchange_strong(&phase, &none, PHASE_STARTING))
		return 0;
	/* The program's signals are for the program's threads. */
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failed = pthread_create(&thread, NULL, background, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed) {
		atomic_store(&phase, PHASE_FINISHED);
		spool_events_close();
		return -1;
	}
	atomic_store(&phase, PHASE_RUNNING);
	return 0;
}

void spool_finish(void)
{
	int running = PHASE_RUNNING, none = PHASE_NONE;
	if (atomic_compare_exchange_strong(&phase, &running, PHASE_FINISHED)) {
		struct timespec limit;
		atomic_store(&wake, WAKE_TO_STOP);
		syscall(SYS_futex, &wake, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		/* A program that ends inside the driver may hold a lock that the last flush needs: better a profile
		 * without an end than a program without one. */
		clock_gettime(CLOCK_REALTIME, &limit);
		limit.tv_sec += JOIN_S;
		pthread_timedjoin_np(thread, NULL, &limit);
	} else if (atomic_compare_exchange_strong(&phase, &none, PHASE_FINISHED) &&
	           (spool_events_pending() || atomic_load(&n_messages))) {
		/* There was never a safe moment to start the thread: do its work now. */
		if (!begin())
			finish();
	}
}
