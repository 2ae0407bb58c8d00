/* bare_loop PROFILE.sqlite ...    steps over the files' events, one file after the other, on one thread. */
#include "bare_loop.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	uint64_t sum = 0;
	int64_t rows = 0;
	for (int i = 1; i < argc; i++) {
		int64_t n = bare_loop(argv[i], &sum);
		if (n < 0)
			return 1;
		rows += n;
	}
	printf("%lld rows, sum %llu\n", (long long)rows, (unsigned long long)sum);
	return 0;
}
