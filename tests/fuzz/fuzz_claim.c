/* Fuzz target: any bytes as a claim, held against the evidence of a finished report. The worst of its points is its
 * answer. */
#include "analyse/analyse.h"
#include "cmd/claim.h"
#include "cmd/page.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(const struct json_value *claim, const struct gates_asked *gates, const struct page_evidence *evidence,
                  struct names *names, struct arena *arena)
{
	struct step_tables tables = evidence->tables;
	struct claim_checked found;
	struct err err = {0};
	tables.options.gates = *gates;
	const struct analysis analysis = analyse_tables(&tables, names, arena);
	if (claim_check(claim, &analysis, evidence->maker.checksum, names, arena, &found, &err) < 0) {
		if (!err.text[0])
			abort();
		return;
	}
	enum claim_answer worst = CLAIM_HOLDS;
	for (uint32_t i = 0; i < found.n; i++)
		worst = found.list[i].answer > worst ? found.list[i].answer : worst;
	if (!found.n || worst != found.answer)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena arena = {0};
	struct names names;
	struct page_evidence evidence;
	const struct json_value *claim;
	struct gates_asked gates;
	struct err err = {0};
	names_init(&names, &arena);
	if (page_evidence_read(TESTS_DIR "/../examples/training-step/report.html", &names, &arena, &evidence, &err) < 0)
		abort();
	if (claim_read((const char *)data, n, &arena, &claim, &gates, &err) == 0)
		check(claim, &gates, &evidence, &names, &arena);
	else if (!err.text[0])
		abort();
	page_evidence_release(&evidence);
	arena_release(&arena);
	return 0;
}
