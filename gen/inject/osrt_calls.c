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

/* Signal handlers may call some of these, perhaps while an allocator is interrupted: those never start our thread. */

/* Functions with checked sizes, which compilers put in the place of the others; no header declares them. */
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);

/* ---- files and sockets ---- */

OSRT_CALL_QUIET(ssize_t, read, (fd, to, n), int fd, void *to, size_t n)
OSRT_WRAPPER(ssize_t, __read_chk, NULL, "read", false, (fd, to, n, room), int fd, void *to, size_t n, size_t room)
OSRT_CALL(ssize_t, readv, (fd, parts, n), int fd, const struct iovec *parts, int n)
OSRT_CALL(ssize_t, pread, (fd, to, n, offset), int fd, void *to, size_t n, off_t offset)
OSRT_CALL(ssize_t, pread64, (fd, to, n, offset), int fd, void *to, size_t n, off64_t offset)
OSRT_WRAPPER(ssize_t, __pread_chk, NULL, "pread", true, (fd, to, n, offset, room), int fd, void *to, size_t n,
             off_t offset, size_t room)
OSRT_WRAPPER(ssize_t, __pread64_chk, NULL, "pread64", true, (fd, to, n, offset, room), int fd, void *to, size_t n,
             off64_t offset, size_t room)
OSRT_CALL_QUIET(ssize_t, write, (fd, from, n), int fd, const void *from, size_t n)
OSRT_CALL_QUIET(ssize_t, writev, (fd, parts, n), int fd, const struct iovec *parts, int n)
OSRT_CALL(int, fsync, (fd), int fd)
OSRT_CALL(int, fdatasync, (fd), int fd)
OSRT_CALL(ssize_t, recv, (fd, to, n, flags), int fd, void *to, size_t n, int flags)
OSRT_WRAPPER(ssize_t, __recv_chk, NULL, "recv", true, (fd, to, n, room, flags), int fd, void *to, size_t n, size_t room,
             int flags)
OSRT_CALL(ssize_t, recvfrom, (fd, to, n, flags, from, length), int fd, void *to, size_t n, int flags,
          struct sockaddr *from, socklen_t *length)
OSRT_WRAPPER(ssize_t, __recvfrom_chk, NULL, "recvfrom", true, (fd, to, n, room, flags, from, length), int fd, void *to,
             size_t n, size_t room, int flags, struct sockaddr *from, socklen_t *length)
OSRT_CALL(ssize_t, recvmsg, (fd, message, flags), int fd, struct msghdr *message, int flags)
OSRT_CALL(ssize_t, send, (fd, from, n, flags), int fd, const void *from, size_t n, int flags)
OSRT_CALL(ssize_t, sendmsg, (fd, message, flags), int fd, const struct msghdr *message, int flags)
OSRT_CALL(int, accept, (fd, from, length), int fd, struct sockaddr *from, socklen_t *length)
OSRT_CALL(int, accept4, (fd, from, length, flags), int fd, struct sockaddr *from, socklen_t *length, int flags)
OSRT_CALL(int, connect, (fd, to, length), int fd, const struct sockaddr *to, socklen_t length)

/* ---- several files at once ---- */

OSRT_CALL(int, poll, (fds, n, timeout), struct pollfd *fds, nfds_t n, int timeout)
OSRT_WRAPPER(int, __poll_chk, NULL, "poll", true, (fds, n, timeout, room), struct pollfd *fds, nfds_t n, int timeout,
             size_t room)
OSRT_CALL(int, ppoll, (fds, n, timeout, mask), struct pollfd *fds, nfds_t n, const struct timespec *timeout,
          const sigset_t *mask)
OSRT_WRAPPER(int, __ppoll_chk, NULL, "ppoll", true, (fds, n, timeout, mask, room), struct pollfd *fds, nfds_t n,
             const struct timespec *timeout, const sigset_t *mask, size_t room)
OSRT_CALL(int, select, (n, in, out, other, timeout), int n, fd_set *in, fd_set *out, fd_set *other,
          struct timeval *timeout)
OSRT_CALL(int, pselect, (n, in, out, other, timeout, mask), int n, fd_set *in, fd_set *out, fd_set *other,
          const struct timespec *timeout, const sigset_t *mask)
OSRT_CALL(int, epoll_wait, (fd, events, n, timeout), int fd, struct epoll_event *events, int n, int timeout)
OSRT_CALL(int, epoll_pwait, (fd, events, n, timeout, mask), int fd, struct epoll_event *events, int n, int timeout,
          const sigset_t *mask)

/* ---- time ---- */

OSRT_CALL(int, nanosleep, (time, left), const struct timespec *time, struct timespec *left)
OSRT_WRAPPER(int, clock_nanosleep, "GLIBC_2.17", "clock_nanosleep", true, (clock, flags, time, left), clockid_t clock,
             int flags, const struct timespec *time, struct timespec *left)
OSRT_CALL(int, usleep, (us), useconds_t us)
OSRT_CALL(unsigned, sleep, (s), unsigned s)

/* ---- processes and signals ---- */

OSRT_CALL_QUIET(pid_t, wait, (status), int *status)
OSRT_CALL_QUIET(pid_t, waitpid, (pid, status, options), pid_t pid, int *status, int options)
OSRT_CALL_QUIET(pid_t, wait4, (pid, status, options, usage), pid_t pid, int *status, int options, struct rusage *usage)
OSRT_CALL(int, waitid, (type, id, info, options), idtype_t type, id_t id, siginfo_t *info, int options)
