/* The result for a CI's test view: JUnit's XML, the part of it that test views agree on (testsuites, testsuite,
 * testcase, failure, error, skipped, system-out). A gate is a test: one that failed is a failure, one that stays open
 * an error, because nothing was shown. What nobody asked for never fails: an inconclusive verdict, and findings that
 * remain, are skipped tests with what was found. No times, no clock. Markup is libxml2's. */
#include "render/render.h"
#include "render/words.h"
#include "say/say.h"

#include <libxml/tree.h>
#include <libxml/xmlsave.h>
#include <string.h>

enum outcome { OUTCOME_PASSED, OUTCOME_FAILED, OUTCOME_ERROR, OUTCOME_SKIPPED, OUTCOMES };

struct suites {
	xmlDoc *doc;
	xmlNode *root;
	xmlNode *suite;
	unsigned n, sum[OUTCOMES];        /* of the suite … */
	unsigned all, all_sums[OUTCOMES]; /* … and of all */
	struct arena arena;
};

static const xmlChar *x(const char *text)
{
	return (const xmlChar *)text;
}

static void set(xmlNode *node, const char *name, const char *value)
{
	xmlNewProp(node, x(name), x(value));
}

static void set_counts(struct suites *s, xmlNode *node, unsigned n, const unsigned *sum)
{
	set(node, "tests", arena_format(&s->arena, "%u", n));
	set(node, "failures", arena_format(&s->arena, "%u", sum[OUTCOME_FAILED]));
	set(node, "errors", arena_format(&s->arena, "%u", sum[OUTCOME_ERROR]));
	set(node, "skipped", arena_format(&s->arena, "%u", sum[OUTCOME_SKIPPED]));
}

static void begin_suite(struct suites *s, const char *name)
{
	s->suite = xmlNewChild(s->root, NULL, x("testsuite"), NULL);
	set(s->suite, "name", name);
	s->n = 0;
	memset(s->sum, 0, sizeof s->sum);
}

static void end_suite(struct suites *s)
{
	set_counts(s, s->suite, s->n, s->sum);
	s->all += s->n;
	for (int i = 0; i < OUTCOMES; i++)
		s->all_sums[i] += s->sum[i];
}

/* `type`: of a failure or an error, for machines; NULL: the outcome says it. */
static void add_case(struct suites *s, const char *class, const char *name, enum outcome outcome, const char *type,
                     const char *message, const char *more)
{
	static const char *const element[] = {
		[OUTCOME_FAILED] = "failure", [OUTCOME_ERROR] = "error", [OUTCOME_SKIPPED] = "skipped"};
	xmlNode *test = xmlNewChild(s->suite, NULL, x("testcase"), NULL);
	set(test, "classname", class);
	set(test, "name", name);
	if (element[outcome]) {
		xmlNode *node = xmlNewChild(test, NULL, x(element[outcome]), NULL);
		set(node, "message", message);
		if (outcome != OUTCOME_SKIPPED)
			set(node, "type", type ? type : outcome == OUTCOME_FAILED ? "failed" : "inconclusive");
	}
	xmlNewTextChild(test, NULL, x("system-out"),
	                x(*more ? arena_format(&s->arena, "%s %s", message, more) : message));
	s->n++;
	s->sum[outcome]++;
}

static void add_gates(struct suites *s, const struct analysis *a)
{
	static const enum outcome outcome[] = {[GATE_NONE] = OUTCOME_ERROR,
	                                       [GATE_PASSED] = OUTCOME_PASSED,
	                                       [GATE_FAILED] = OUTCOME_FAILED,
	                                       [GATE_INCONCLUSIVE] = OUTCOME_ERROR};
	if (!a->gates.n)
		return;
	begin_suite(s, "gapline gates");
	for (size_t i = 0; i < a->gates.n; i++) {
		const struct gate *gate = &a->gates.gate[i];
		add_case(s, "gapline.gates", gate->name, outcome[gate->result], NULL,
		         say_fact(gate->fact, a->names, &s->arena), "");
	}
	end_suite(s);
}

/* A finding's name is the same from one commit to the next, so that a test view can follow it. */
static void add_findings(struct suites *s, const struct analysis *a)
{
	if (!a->findings.n)
		return;
	begin_suite(s, "gapline findings");
	for (uint32_t i = 0; i < a->findings.n; i++) {
		const struct finding *f = &a->findings.list[i];
		bool gone = f->status == FINDING_RESOLVED || f->status == FINDING_REDUCED;
		unsigned same = 0;
		for (uint32_t k = 0; k < i; k++)
			same += strcmp(a->findings.list[k].id, f->id) == 0;
		const char *name = same ? arena_format(&s->arena, "%s (%u)", f->id, same + 1) : f->id;
		add_case(s, "gapline.findings", name, gone ? OUTCOME_PASSED : OUTCOME_SKIPPED, NULL,
		         arena_format(&s->arena, "%s: %s", words_status(f), f->text), f->advice);
	}
	end_suite(s);
}

static void begin(struct suites *s)
{
	*s = (struct suites){.doc = xmlNewDoc(x("1.0"))};
	s->root = xmlNewNode(NULL, x("testsuites"));
	xmlDocSetRootElement(s->doc, s->root);
	set(s->root, "name", "gapline");
	begin_suite(s, "gapline verdict");
}

static int finish(struct suites *s, struct buf *out, struct err *err)
{
	set_counts(s, s->root, s->all, s->all_sums);
	xmlChar *bytes = NULL;
	int n = 0;
	xmlDocDumpFormatMemoryEnc(s->doc, &bytes, &n, "UTF-8", 1);
	if (bytes)
		buf_add(out, (const char *)bytes, (size_t)n);
	xmlFree(bytes);
	xmlFreeDoc(s->doc);
	arena_release(&s->arena);
	return bytes ? 0 : err_set_id(err, ERR_MEMORY, "the JUnit file: out of memory");
}

int render_junit(const struct analysis *a, struct buf *out, struct err *err)
{
	struct suites s;
	begin(&s);
	add_case(&s, "gapline.verdict", "speedup",
	         a->verdict.result == VERDICT_INCONCLUSIVE ? OUTCOME_SKIPPED : OUTCOME_PASSED, NULL,
	         words_verdict(a, &s.arena), words_more(a, &s.arena));
	end_suite(&s);
	add_gates(&s, a);
	add_findings(&s, a);
	return finish(&s, out, err);
}

int render_error_junit(const struct render_error *e, struct buf *out, struct err *err)
{
	struct suites s;
	begin(&s);
	const char *text = e->file ? arena_format(&s.arena, "%s: %s", e->file, e->text) : e->text;
	const char *next = e->next ? arena_format(&s.arena, "(next: %s)", e->next) : "";
	add_case(&s, "gapline.verdict", "speedup", OUTCOME_ERROR, e->id, text, next);
	end_suite(&s);
	return finish(&s, out, err);
}
