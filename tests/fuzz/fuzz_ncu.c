/* Fuzz target: any bytes as the CSV of a report of Nsight Compute. What is read keeps its promises. */
#include "read/ncu.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static int fd = -1;
	if (fd < 0)
		fd = memfd_create("fuzz-ncu", 0);
	if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, n, 0) != (ssize_t)n)
		abort();
	struct arena arena = {0};
	struct names names;
	struct ncu_report report = {0};
	struct err err = {0};
	names_init(&names, &arena);
	if (ncu_read(fd, "fuzz.csv", &names, &arena, &report, &err) == 0) {
		if (!report.n)
			abort();
		for (size_t i = 0; i < report.n; i++) {
			const struct ncu_launch *l = &report.launch[i];
			if (l->name >= names.n || l->n_rules > NCU_RULES)
				abort();
			for (int v = 0; v < NCU_NUMBERS; v++)
				if (!isnan(l->value[v]) && !(l->value[v] >= 0 && isfinite(l->value[v])))
					abort();
			for (uint32_t r = 0; r < l->n_rules; r++)
				if (l->rule[r] >= names.n)
					abort();
		}
	} else if (!err.text[0]) {
		abort();
	}
	arena_release(&arena);
	return 0;
}
