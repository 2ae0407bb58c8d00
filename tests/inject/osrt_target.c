/* A program that blocks in known ways; check_inject_osrt.py knows for how long. Each case prints what its calls
 * returned. */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000 };

static struct timespec in_ms(clockid_t clock, long ms)
{
	struct timespec t;
	clock_gettime(clock, &t);
	t.tv_nsec += ms * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* Does `act` on another thread after 20 ms. */
static void (*act)(void);
static void *later(void *unused)
{
	(void)unused;
	struct timespec t = {0, 20000000};
	syscall(SYS_nanosleep, &t, NULL); /* not one of the functions that are recorded */
	act();
	return NULL;
}

static pthread_t after_20_ms(void (*what)(void))
{
	pthread_t t;
	act = what;
	pthread_create(&t, NULL, later, NULL);
	return t;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static int pipes[2], word, woken;

static void sleeps(void)
{
	struct timespec t = {0, 30000000};
	printf("%d ", nanosleep(&t, NULL));
	printf("%d ", clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL));
	printf("%d ", usleep(30 * MS));
	printf("%d ", select(0, NULL, NULL, NULL, &(struct timeval){0, 30 * MS}));
	printf("%d ", pselect(0, NULL, NULL, NULL, &t, NULL));
	printf("%d ", poll(NULL, 0, 30));
	printf("%d ", ppoll(NULL, 0, &t, NULL));
	int e = epoll_create1(0);
	struct epoll_event event;
	printf("%d ", epoll_wait(e, &event, 1, 30));
	printf("%d\n", epoll_pwait(e, &event, 1, 30, NULL));
}

static void signal_condition(void)
{
	pthread_mutex_lock(&mutex);
	woken = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
}

static void conditions(void)
{
	struct timespec t;
	pthread_mutex_lock(&mutex);
	pthread_t thread = after_20_ms(signal_condition);
	while (!woken)
		pthread_cond_wait(&condition, &mutex);
	t = in_ms(CLOCK_REALTIME, 20);
	printf("%d ", pthread_cond_timedwait(&condition, &mutex, &t) == ETIMEDOUT);
	t = in_ms(CLOCK_MONOTONIC, 20);
	printf("%d\n", pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &t) == ETIMEDOUT);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
}

static void *hold(void *lock)
{
	struct timespec t = {0, 40000000};
	if (lock == &mutex)
		pthread_mutex_lock(&mutex);
	else
		pthread_rwlock_wrlock(&rwlock);
	__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_nanosleep, &t, NULL);
	if (lock == &mutex)
		pthread_mutex_unlock(&mutex);
	else
		pthread_rwlock_unlock(&rwlock);
	return NULL;
}

static void held_by_another(void *lock, void (*take)(void))
{
	pthread_t t;
	word = 0;
	pthread_create(&t, NULL, hold, lock);
	while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
		sched_yield();
	take();
	pthread_join(t, NULL);
}

static void take_mutex(void)
{
	printf("%d ", pthread_mutex_lock(&mutex));
	pthread_mutex_unlock(&mutex);
}

static void take_read(void)
{
	printf("%d ", pthread_rwlock_rdlock(&rwlock));
	pthread_rwlock_unlock(&rwlock);
}

static void take_write(void)
{
	printf("%d ", pthread_rwlock_wrlock(&rwlock));
	pthread_rwlock_unlock(&rwlock);
}

static void locks(void)
{
	held_by_another(&mutex, take_mutex);
	held_by_another(&rwlock, take_read);
	held_by_another(&rwlock, take_write);
	/* What a lock says about misuse is still said. */
	pthread_mutexattr_t kind;
	pthread_mutex_t checked, recursive;
	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checked, &kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &kind);
	printf("%d ", pthread_mutex_lock(&checked));
	printf("%d ", pthread_mutex_lock(&checked) == EDEADLK);
	printf("%d ", pthread_mutex_lock(&recursive));
	printf("%d\n", pthread_mutex_lock(&recursive));
}

static void post(void)
{
	sem_post(&semaphore);
}

static void wake(void)
{
	__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void waits(void)
{
	sem_init(&semaphore, 0, 0);
	pthread_t t = after_20_ms(post);
	printf("%d ", sem_wait(&semaphore));
	pthread_join(t, NULL);
	struct timespec until = in_ms(CLOCK_REALTIME, 20);
	printf("%d", sem_timedwait(&semaphore, &until));
	printf(" %d ", errno == ETIMEDOUT);
	t = after_20_ms(wake);
	while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	pthread_join(t, NULL);
	void *value = NULL;
	t = after_20_ms(post);
	printf("%d\n", pthread_join(t, &value));
}

static void write_pipe(void)
{
	if (syscall(SYS_write, pipes[1], "x", 1) != 1)
		abort();
}

static void files(void)
{
	char c;
	if (pipe(pipes))
		abort();
	pthread_t t = after_20_ms(write_pipe);
	printf("%zd ", read(pipes[0], &c, 1));
	pthread_join(t, NULL);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pipes))
		abort();
	t = after_20_ms(write_pipe);
	printf("%zd ", recv(pipes[0], &c, 1, 0));
	pthread_join(t, NULL);
	pid_t child = fork();
	if (!child) {
		struct timespec time = {0, 20000000};
		syscall(SYS_nanosleep, &time, NULL);
		_exit(3);
	}
	int status = 0;
	printf("%d ", waitpid(child, &status, 0) == child);
	printf("%d\n", WEXITSTATUS(status));
}

static void quick(void)
{
	char c;
	if (pipe(pipes))
		abort();
	for (int i = 0; i < 10000; i++) {
		if (write(pipes[1], "x", 1) != 1 || read(pipes[0], &c, 1) != 1)
			abort();
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	usleep(20 * MS);
}

static void on_signal(int signal)
{
	(void)signal;
}

static void on_alarm(int signal)
{
	(void)signal;
	usleep(200); /* recorded inside of another call */
}

static void errors(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	char c;
	sigaction(SIGALRM, &action, NULL);
	if (pipe(pipes))
		abort();
	ualarm(20 * MS, 0);
	errno = 0;
	printf("%zd", read(pipes[0], &c, 1));
	printf(" %d ", errno == EINTR);
	errno = 0;
	printf("%zd", read(-1, &c, 1));
	printf(" %d ", errno == EBADF);
	/* A long call that succeeds leaves errno alone. */
	errno = 4711;
	usleep(20 * MS);
	printf("%d\n", errno);
	action.sa_handler = on_alarm;
	sigaction(SIGALRM, &action, NULL);
	ualarm(MS, MS);
	for (int i = 0; i < 2000; i++)
		usleep(60);
	ualarm(0, 0);
}

static void *cancelled(void *unused)
{
	char c;
	(void)unused;
	return read(pipes[0], &c, 1) ? NULL : &pipes;
}

static void cancels(void)
{
	pthread_t t;
	void *value;
	if (pipe(pipes))
		abort();
	pthread_create(&t, NULL, cancelled, NULL);
	usleep(20 * MS);
	pthread_cancel(t);
	pthread_join(t, &value);
	printf("%d\n", value == PTHREAD_CANCELED);
}

static void forks(void)
{
	usleep(20 * MS);
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();
		if (child) {
			waitpid(child, NULL, 0);
			continue;
		}
		if (i)
			usleep(30 * MS);
		if (i == 2)
			usleep(100 * MS);
		if (i < 2)
			exit(0);
		_exit(0);
	}
}

/* What compilers put in the place of functions whose buffer's size they know. */
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);

static void checked(void)
{
	char to[2];
	FILE *file = tmpfile();
	fputs("123", file);
	fflush(file);
	rewind(file);
	int fd = fileno(file);
	int n = (int)__read_chk(fd, to, 1, sizeof to);
	printf("%d ", n);
	n = (int)__pread_chk(fd, to, 2, 1, sizeof to);
	printf("%d %c ", n, to[0]);
	n = (int)__pread64_chk(fd, to, 1, 2, sizeof to);
	printf("%d %c\n", n, to[0]);
	fclose(file);
}

static void until_killed(void)
{
	for (;;)
		usleep(1000);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"sleeps", sleeps},
	             {"conditions", conditions},
	             {"locks", locks},
	             {"waits", waits},
	             {"files", files},
	             {"quick", quick},
	             {"errors", errors},
	             {"cancels", cancels},
	             {"forks", forks},
	             {"checked", checked},
	             {"until-killed", until_killed}};
	for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			return 0;
		}
	return 2;
}
