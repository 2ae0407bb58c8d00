#include "ranks.h"

#include "status.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

/* The partner is gone, and has said why. */
static _Noreturn void gone(const struct ranks *r)
{
	int status = ranks_finish(r);

	exit(status != EXIT_SUCCESS ? status : EXIT_GPU);
}

void ranks_start(struct ranks *r, int n)
{
	int ends[2];

	*r = (struct ranks){.n = n, .socket = -1};
	if (n < 2)
		return;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		fail("socketpair");
	r->partner = fork();
	if (r->partner < 0)
		fail("fork");
	r->rank = r->partner == 0;
	r->socket = ends[r->rank];
	close(ends[!r->rank]);
	if (r->rank != 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* in a collective, it would wait for the dead */
}

void ranks_send(const struct ranks *r, const void *data, size_t size)
{
	for (const char *p = data; size > 0;) {
		ssize_t n = send(r->socket, p, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			gone(r);
		p += n;
		size -= (size_t)n;
	}
}

void ranks_receive(const struct ranks *r, void *data, size_t size)
{
	for (char *p = data; size > 0;) {
		ssize_t n = recv(r->socket, p, size, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			gone(r);
		p += n;
		size -= (size_t)n;
	}
}

double ranks_swap(const struct ranks *r, double mine)
{
	double other;

	ranks_send(r, &mine, sizeof(mine));
	ranks_receive(r, &other, sizeof(other));
	return other;
}

int ranks_finish(const struct ranks *r)
{
	int status = 0;

	if (r->n < 2 || r->rank != 0)
		return EXIT_SUCCESS;
	close(r->socket);
	while (waitpid(r->partner, &status, 0) < 0) {
		if (errno != EINTR)
			fail("waitpid");
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}
