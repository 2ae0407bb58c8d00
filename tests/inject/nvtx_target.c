/* A program that uses NVTX in every way; check_inject_nvtx.py knows what its spool has to hold. */
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

static nvtxEventAttributes_t attributes(void)
{
	nvtxEventAttributes_t a;
	memset(&a, 0, sizeof a);
	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	return a;
}

/* Every function of the two modules, once. */
static void all(void)
{
	nvtxDomainHandle_t d = nvtxDomainCreateA("lib"), w = nvtxDomainCreateW(L"wide lib");
	nvtxStringHandle_t s = nvtxDomainRegisterStringA(d, "registered");
	nvtxStringHandle_t sw = nvtxDomainRegisterStringW(w, L"wide \u00e9");
	nvtxEventAttributes_t a = attributes();
	a.category = 7;
	a.colorType = NVTX_COLOR_ARGB;
	a.color = 0xff102030;
	a.payloadType = NVTX_PAYLOAD_TYPE_INT32;
	memset(&a.payload, 0xff, sizeof a.payload);
	a.payload.iValue = -5;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = s;
	printf("depth %d", nvtxRangePushA("push a"));
	printf(" %d", nvtxRangePushW(L"push w"));
	printf(" %d", nvtxDomainRangePushEx(d, &a));
	printf(" %d", nvtxDomainRangePop(d));
	printf(" %d", nvtxRangePop());
	printf(" %d\n", nvtxRangePop());
	a = attributes();
	a.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
	a.payload.dValue = 2.5;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = "push ex";
	nvtxRangePushEx(&a);
	nvtxRangePop();
	a = attributes();
	a.messageType = NVTX_MESSAGE_TYPE_UNICODE;
	a.message.unicode = L"mark ex";
	nvtxMarkEx(&a);
	nvtxMarkA("mark a");
	nvtxMarkW(L"mark w");
	nvtxRangeId_t one = nvtxRangeStartA("start a"), two = nvtxRangeStartW(L"start w");
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = sw;
	nvtxRangeId_t three = nvtxDomainRangeStartEx(w, &a), four = nvtxRangeStartEx(&a);
	nvtxRangeEnd(one);
	nvtxRangeEnd(two);
	nvtxDomainRangeEnd(w, three);
	nvtxRangeEnd(four);
	nvtxDomainMarkEx(w, &a);
	nvtxNameCategoryA(1, "cat a");
	nvtxNameCategoryW(2, L"cat w");
	nvtxDomainNameCategoryA(d, 3, "cat da");
	nvtxDomainNameCategoryW(d, 4, L"cat dw");
	nvtxNameOsThreadA(11, "thread a");
	nvtxNameOsThreadW(12, L"thread w");
	nvtxRangePushEx(NULL);
	nvtxRangePushA("");
	nvtxRangePushA(NULL);
	char *huge = malloc(100000);
	memset(huge, 'x', 99999);
	huge[99999] = 0;
	nvtxMarkA(huge);
	nvtxDomainDestroy(w);
	free(huge);
}

enum { THREADS = 8, RANGES = 5000 };
static nvtxRangeId_t handed[THREADS];

static void *worker(void *argument)
{
	int me = (int)(long)argument;
	char name[32];
	snprintf(name, sizeof name, "worker %d", me);
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < RANGES; i++) {
		snprintf(name, sizeof name, "%d.%d", me, i);
		nvtxRangePushA(name);
		nvtxRangePop();
	}
	handed[me] = nvtxRangeStartA("ended by another thread");
	usleep(500000); /* until the names of threads are looked at, on a busy machine too */
	return NULL;
}

static void threads(void)
{
	pthread_t t[THREADS];
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < THREADS; i++)
		nvtxRangeEnd(handed[i]);
}

static void *one_mark(void *name)
{
	nvtxMarkA(name);
	return NULL;
}

/* Many short threads: what is kept for each of them is used again. */
static void many(void)
{
	for (int i = 0; i < 2000; i++) {
		pthread_t t;
		pthread_create(&t, NULL, one_mark, "short");
		pthread_join(t, NULL);
	}
}

static void forks(void)
{
	nvtxMarkA("parent before");
	for (int i = 0; i < 4; i++) {
		if (fork())
			continue;
		if (i == 0)
			exit(0); /* says nothing: has no file */
		nvtxMarkA("child");
		if (i == 1)
			exit(0);
		usleep(150000);
		if (i == 2)
			_exit(0);
		kill(getpid(), SIGKILL);
	}
	while (wait(NULL) > 0)
		;
	nvtxMarkA("parent after");
}

/* Marks the time in ns every millisecond until it is killed. */
static void until_killed(void)
{
	for (;;) {
		nvtxMarkA("alive");
		usleep(1000);
	}
}

/* A daemon's habit: everything that is open is closed. What it opens then must stay its own. */
static void closes(void)
{
	nvtxMarkA("before");
	usleep(100000);
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
	FILE *own = tmpfile();
	nvtxMarkA("after");
	usleep(100000);
	fseek(own, 0, SEEK_END);
	printf("own file: %ld bytes\n", ftell(own));
}

static void slow(void)
{
	for (int i = 0; i < 40; i++) {
		nvtxRangePushA("slow");
		usleep(10000);
		nvtxRangePop();
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"all", all},     {"threads", threads},           {"many", many},
	             {"forks", forks}, {"until-killed", until_killed}, {"closes", closes},
	             {"slow", slow}};
	for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			if (argc > 2 && !strcmp(argv[2], "_exit"))
				_exit(0);
			if (argc > 2 && !strcmp(argv[2], "abort"))
				abort();
			if (argc > 2 && !strcmp(argv[2], "exec"))
				execl(argv[0], argv[0], "all", NULL);
			return 0;
		}
	return 2;
}
