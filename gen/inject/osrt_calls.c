/* Waiting for files, sockets, processes and time. */

/* What fortified headers put in the place of these functions is defined here: under their own names. */
#undef _FORTIFY_SOURCE

#include "osrt.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Signal handlers may call these, perhaps while an allocator is interrupted: they never start our thread. */
#define CALL_SIGNAL(type, name, arguments) OSRT_VERSIONED(type, name, NULL, arguments, false)

/* Functions with checked sizes, which compilers put in the place of the others; no header declares them. */
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);

/* ---- files and sockets ---- */

static __typeof__(&read) real_read;
EXPORT ssize_t read(int fd, void *to, size_t n)
{
	CALL_SIGNAL(ssize_t, read, (fd, to, n));
}

static __typeof__(&__read_chk) real___read_chk;
EXPORT ssize_t __read_chk(int fd, void *to, size_t n, size_t room)
{
	OSRT_NOTED(ssize_t, __read_chk, NULL, "read", (fd, to, n, room), false);
}

static __typeof__(&readv) real_readv;
EXPORT ssize_t readv(int fd, const struct iovec *parts, int n)
{
	OSRT_CALL(ssize_t, readv, (fd, parts, n));
}

static __typeof__(&pread) real_pread;
EXPORT ssize_t pread(int fd, void *to, size_t n, off_t offset)
{
	OSRT_CALL(ssize_t, pread, (fd, to, n, offset));
}

static __typeof__(&pread64) real_pread64;
EXPORT ssize_t pread64(int fd, void *to, size_t n, off64_t offset)
{
	OSRT_CALL(ssize_t, pread64, (fd, to, n, offset));
}

static __typeof__(&write) real_write;
EXPORT ssize_t write(int fd, const void *from, size_t n)
{
	CALL_SIGNAL(ssize_t, write, (fd, from, n));
}

static __typeof__(&writev) real_writev;
EXPORT ssize_t writev(int fd, const struct iovec *parts, int n)
{
	CALL_SIGNAL(ssize_t, writev, (fd, parts, n));
}

static __typeof__(&fsync) real_fsync;
EXPORT int fsync(int fd)
{
	OSRT_CALL(int, fsync, (fd));
}

static __typeof__(&fdatasync) real_fdatasync;
EXPORT int fdatasync(int fd)
{
	OSRT_CALL(int, fdatasync, (fd));
}

static __typeof__(&recv) real_recv;
EXPORT ssize_t recv(int fd, void *to, size_t n, int flags)
{
	OSRT_CALL(ssize_t, recv, (fd, to, n, flags));
}

static __typeof__(&__recv_chk) real___recv_chk;
EXPORT ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags)
{
	OSRT_NOTED(ssize_t, __recv_chk, NULL, "recv", (fd, to, n, room, flags), true);
}

static __typeof__(&recvfrom) real_recvfrom;
EXPORT ssize_t recvfrom(int fd, void *to, size_t n, int flags, struct sockaddr *from, socklen_t *length)
{
	OSRT_CALL(ssize_t, recvfrom, (fd, to, n, flags, from, length));
}

static __typeof__(&__recvfrom_chk) real___recvfrom_chk;
EXPORT ssize_t __recvfrom_chk(int fd, void *to, size_t n, size_t room, int flags, struct sockaddr *from,
                              socklen_t *length)
{
	OSRT_NOTED(ssize_t, __recvfrom_chk, NULL, "recvfrom", (fd, to, n, room, flags, from, length), true);
}

static __typeof__(&recvmsg) real_recvmsg;
EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	OSRT_CALL(ssize_t, recvmsg, (fd, message, flags));
}

static __typeof__(&send) real_send;
EXPORT ssize_t send(int fd, const void *from, size_t n, int flags)
{
	OSRT_CALL(ssize_t, send, (fd, from, n, flags));
}

static __typeof__(&sendmsg) real_sendmsg;
EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	OSRT_CALL(ssize_t, sendmsg, (fd, message, flags));
}

static __typeof__(&accept) real_accept;
EXPORT int accept(int fd, struct sockaddr *from, socklen_t *length)
{
	OSRT_CALL(int, accept, (fd, from, length));
}

static __typeof__(&accept4) real_accept4;
EXPORT int accept4(int fd, struct sockaddr *from, socklen_t *length, int flags)
{
	OSRT_CALL(int, accept4, (fd, from, length, flags));
}

static __typeof__(&connect) real_connect;
EXPORT int connect(int fd, const struct sockaddr *to, socklen_t length)
{
	OSRT_CALL(int, connect, (fd, to, length));
}

/* ---- several files at once ---- */

static __typeof__(&poll) real_poll;
EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	OSRT_CALL(int, poll, (fds, n, timeout));
}

static __typeof__(&__poll_chk) real___poll_chk;
EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room)
{
	OSRT_NOTED(int, __poll_chk, NULL, "poll", (fds, n, timeout, room), true);
}

static __typeof__(&ppoll) real_ppoll;
EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	OSRT_CALL(int, ppoll, (fds, n, timeout, mask));
}

static __typeof__(&__ppoll_chk) real___ppoll_chk;
EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room)
{
	OSRT_NOTED(int, __ppoll_chk, NULL, "ppoll", (fds, n, timeout, mask, room), true);
}

static __typeof__(&select) real_select;
EXPORT int select(int n, fd_set *in, fd_set *out, fd_set *other, struct timeval *timeout)
{
	OSRT_CALL(int, select, (n, in, out, other, timeout));
}

static __typeof__(&pselect) real_pselect;
EXPORT int pselect(int n, fd_set *in, fd_set *out, fd_set *other, const struct timespec *timeout, const sigset_t *mask)
{
	OSRT_CALL(int, pselect, (n, in, out, other, timeout, mask));
}

static __typeof__(&epoll_wait) real_epoll_wait;
EXPORT int epoll_wait(int fd, struct epoll_event *events, int n, int timeout)
{
	OSRT_CALL(int, epoll_wait, (fd, events, n, timeout));
}

static __typeof__(&epoll_pwait) real_epoll_pwait;
EXPORT int epoll_pwait(int fd, struct epoll_event *events, int n, int timeout, const sigset_t *mask)
{
	OSRT_CALL(int, epoll_pwait, (fd, events, n, timeout, mask));
}

/* ---- time ---- */

static __typeof__(&nanosleep) real_nanosleep;
EXPORT int nanosleep(const struct timespec *time, struct timespec *left)
{
	OSRT_CALL(int, nanosleep, (time, left));
}

static __typeof__(&clock_nanosleep) real_clock_nanosleep;
EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
	OSRT_VERSIONED(int, clock_nanosleep, "GLIBC_2.17", (clock, flags, time, left), true);
}

static __typeof__(&usleep) real_usleep;
EXPORT int usleep(useconds_t us)
{
	OSRT_CALL(int, usleep, (us));
}

static __typeof__(&sleep) real_sleep;
EXPORT unsigned sleep(unsigned s)
{
	OSRT_CALL(unsigned, sleep, (s));
}

/* ---- processes and signals ---- */

static __typeof__(&wait) real_wait;
EXPORT pid_t wait(int *status)
{
	CALL_SIGNAL(pid_t, wait, (status));
}

static __typeof__(&waitpid) real_waitpid;
EXPORT pid_t waitpid(pid_t pid, int *status, int options)
{
	CALL_SIGNAL(pid_t, waitpid, (pid, status, options));
}

static __typeof__(&wait4) real_wait4;
EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	CALL_SIGNAL(pid_t, wait4, (pid, status, options, usage));
}

static __typeof__(&waitid) real_waitid;
EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	OSRT_CALL(int, waitid, (type, id, info, options));
}
