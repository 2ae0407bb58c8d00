/* Loaded in front of gapline (LD_PRELOAD): lets the calls of one kind succeed until the one that is asked for, which
 * fails as it does on a machine that is full.
 *
 *	FAILING_KIND    memory, read, write, open, rename, sync, unlink, fork, map, thread or pack (zlib has no memory);
 *	                flags: renames that exchange or replace nothing, which some file systems lack
 *	FAILING_CALL    which one fails, from 1; 0: none
 *	FAILING_ALL     set: all that follow fail, too
 *	FAILING_DIES    set: the process is killed (SIGKILL) in front of the call instead
 *	FAILING_REPORT  a file that gets the number of calls at the end, where the end is exit(3) or _exit(2)
 *
 * Only calls of the program that was started first: what it starts itself runs without. */
#undef _FORTIFY_SOURCE /* it is what stands behind the checking functions */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <zlib.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t n);

enum kind {
	KIND_NONE,
	KIND_MEMORY,
	KIND_READ,
	KIND_WRITE,
	KIND_OPEN,
	KIND_RENAME,
	KIND_SYNC,
	KIND_UNLINK,
	KIND_FORK,
	KIND_MAP,
	KIND_THREAD,
	KIND_PACK,
	KIND_FLAGS
};

static const char *const names[] = {"",       "memory", "read", "write",  "open", "rename", "sync",
                                    "unlink", "fork",   "map",  "thread", "pack", "flags"};

static enum kind kind;
static long wanted;
static bool all, dies;
static atomic_long calls;
static pid_t ours;
static char report[4096];

__attribute__((constructor)) static void begin(void)
{
	const char *name = getenv("FAILING_KIND"), *call = getenv("FAILING_CALL"), *file = getenv("FAILING_REPORT");
	wanted = call ? atol(call) : 0;
	all = getenv("FAILING_ALL") != NULL;
	dies = getenv("FAILING_DIES") != NULL;
	if (file)
		snprintf(report, sizeof report, "%s", file);
	unsetenv("LD_PRELOAD");
	ours = getpid();
	for (size_t i = 1; name && i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name))
			kind = (enum kind)i;
}

static void tell(void)
{
	char text[32];
	int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
	int fd =
		*report && getpid() == ours ? (int)syscall(SYS_openat, AT_FDCWD, report, O_WRONLY | O_CREAT, 0600) : -1;
	if (fd >= 0) {
		if (syscall(SYS_write, fd, text, (size_t)n) != n)
			abort();
		syscall(SYS_close, fd);
	}
}

__attribute__((destructor)) static void end(void)
{
	tell();
}

static bool fails(enum kind which, int problem)
{
	if (kind != which || getpid() != ours)
		return false;
	long call = atomic_fetch_add(&calls, 1) + 1;
	if (!wanted || call < wanted || (call > wanted && !all))
		return false;
	if (dies)
		raise(SIGKILL);
	errno = problem;
	return true;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void *malloc(size_t n)
{
	return fails(KIND_MEMORY, ENOMEM) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails(KIND_MEMORY, ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t n)
{
	return fails(KIND_MEMORY, ENOMEM) ? NULL : __libc_realloc(old, n);
}

ssize_t read(int fd, void *data, size_t n)
{
	return fails(KIND_READ, EIO) ? -1 : syscall(SYS_read, fd, data, n);
}

ssize_t pread(int fd, void *data, size_t n, off_t at)
{
	return fails(KIND_READ, EIO) ? -1 : syscall(SYS_pread64, fd, data, n, at);
}

ssize_t pread64(int fd, void *data, size_t n, off64_t at)
{
	return fails(KIND_READ, EIO) ? -1 : syscall(SYS_pread64, fd, data, n, at);
}

/* What hardened programs call in their place; the sizes are known to be right here. */
ssize_t __read_chk(int fd, void *data, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *data, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *data, size_t n, off64_t at, size_t room);

ssize_t __read_chk(int fd, void *data, size_t n, size_t room)
{
	(void)room;
	return read(fd, data, n);
}

ssize_t __pread_chk(int fd, void *data, size_t n, off_t at, size_t room)
{
	(void)room;
	return pread(fd, data, n, at);
}

ssize_t __pread64_chk(int fd, void *data, size_t n, off64_t at, size_t room)
{
	(void)room;
	return pread64(fd, data, n, at);
}

ssize_t write(int fd, const void *data, size_t n)
{
	/* What stands on the terminal is how the failure is told. */
	return fd != STDERR_FILENO && fails(KIND_WRITE, ENOSPC) ? -1 : syscall(SYS_write, fd, data, n);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
	return fails(KIND_WRITE, ENOSPC) ? -1 : syscall(SYS_pwrite64, fd, data, n, at);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
	return fails(KIND_WRITE, ENOSPC) ? -1 : syscall(SYS_pwrite64, fd, data, n, at);
}

static mode_t mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

#define OPEN(name)                                                                                                     \
	int name(const char *path, int flags, ...)                                                                     \
	{                                                                                                              \
		va_list args;                                                                                          \
		va_start(args, flags);                                                                                 \
		mode_t mode = mode_of(flags, args);                                                                    \
		va_end(args);                                                                                          \
		return fails(KIND_OPEN, EMFILE) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);          \
	}

OPEN(open)
OPEN(open64)

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

int __open_2(const char *path, int flags)
{
	return open(path, flags);
}

int __open64_2(const char *path, int flags)
{
	return open(path, flags);
}

int rename(const char *from, const char *to)
{
	return fails(KIND_RENAME, EACCES) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat2(int at, const char *from, int to_at, const char *to, unsigned flags)
{
	if (flags && fails(KIND_FLAGS, EINVAL))
		return -1;
	return fails(KIND_RENAME, EACCES) ? -1 : (int)syscall(SYS_renameat2, at, from, to_at, to, flags);
}

int fsync(int fd)
{
	return fails(KIND_SYNC, EIO) ? -1 : (int)syscall(SYS_fsync, fd);
}

int ftruncate(int fd, off_t size)
{
	return fails(KIND_SYNC, EIO) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int unlink(const char *path)
{
	return fails(KIND_UNLINK, EACCES) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

pid_t fork(void)
{
	return fails(KIND_FORK, EAGAIN) ? -1 : REAL(fork)();
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	return fails(KIND_MAP, ENOMEM) ? MAP_FAILED : (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t n, int protection, int flags, int fd, off64_t offset)
{
	return mmap(at, n, protection, flags, fd, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	return fails(KIND_THREAD, EAGAIN) ? EAGAIN : REAL(pthread_create)(thread, attributes, run, argument);
}

int compress2(unsigned char *to, unsigned long *n, const unsigned char *from, unsigned long n_from, int level)
{
	return fails(KIND_PACK, ENOMEM) ? Z_MEM_ERROR : REAL(compress2)(to, n, from, n_from, level);
}

int deflateInit2_(z_stream *z, int level, int method, int bits, int memory, int strategy, const char *version, int size)
{
	if (fails(KIND_PACK, ENOMEM))
		return Z_MEM_ERROR;
	return REAL(deflateInit2_)(z, level, method, bits, memory, strategy, version, size);
}

void _exit(int status)
{
	tell();
	for (;;)
		syscall(SYS_exit_group, status);
}
