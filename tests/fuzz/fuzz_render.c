/* Fuzz target: any texts as everything that has a name in a pair of profiles, and the report of it in every form. Other
 * parsers read each form again: names stay texts, whatever they hold. The first bytes are numbers, the others texts
 * with 0x1E between them. */
#include "analyse/analyse.h"
#include "base/json_reader.h"
#include "gate/gate.h"
#include "render/render.h"
#include "trace/build.h"

#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { NUMBERS = 8, TEXTS = 24, STEPS = 14, PROCESS = 100, THREAD = 101 };

struct input {
	uint8_t number[NUMBERS];
	const char *text[TEXTS]; /* end with NUL, and may hold none */
	size_t n[TEXTS];
};

static void keep(bool promise, const char *what)
{
	if (promise)
		return;
	fprintf(stderr, "not so: %s\n", what);
	abort();
}

static void split(struct input *in, const uint8_t *data, size_t n, struct arena *arena)
{
	size_t i = 0;
	memset(in, 0, sizeof *in);
	memcpy(in->number, data, n < NUMBERS ? n : NUMBERS);
	data += n < NUMBERS ? n : NUMBERS;
	n -= n < NUMBERS ? n : NUMBERS;
	while (i < TEXTS) {
		const uint8_t *end = n ? memchr(data, 0x1E, n) : NULL;
		size_t length = end ? (size_t)(end - data) : n;
		in->text[i] = arena_copy(arena, (const char *)data, length);
		in->n[i++] = length;
		data += end ? length + 1 : length;
		n -= end ? length + 1 : length;
	}
}

/* ---- two profiles ---- */

static uint64_t name(struct build *b, const struct input *in, size_t i)
{
	return build_text(b, in->text[i], in->n[i]);
}

static void add_range(struct build *b, const struct build_thread *thread, int64_t start, int64_t end, uint64_t text,
                      int64_t domain)
{
	build_range(b, &(struct build_range){
			       .thread = *thread, .start = start, .end = end, .name = text, .domain = domain});
}

/* Steps of three phases: the host works, then launches two kernels and waits for them in its own ways. */
static void add_steps(struct build *b, const struct input *in, int64_t wait)
{
	const struct build_thread thread = {.key = THREAD, .process = PROCESS, .pid = PROCESS, .tid = THREAD};
	int64_t at = 1000000, correlation = 1;
	for (int i = 0; i < STEPS; i++) {
		int64_t begin = at, loaded = at + wait + in->number[1] * (i % 3), gpu = loaded + 5000, end;
		uint64_t launch = in->number[2] & 1 ? name(b, in, 6) : build_text(b, "cudaLaunchKernel", 16);
		for (size_t k = 0; k < 3; k++) {
			build_call(b, &(struct build_call){.thread = thread,
			                                   .start = loaded + (int64_t)k * 2000,
			                                   .end = loaded + (int64_t)k * 2000 + 1000,
			                                   .correlation = correlation,
			                                   .name = launch});
			build_op(b, &(struct build_op){.kind = k == 2 && in->number[2] & 2 ? OP_COPY : OP_KERNEL,
			                               .process = PROCESS,
			                               .pid = PROCESS,
			                               .start = gpu,
			                               .end = gpu + 40000,
			                               .bytes = k == 2 ? 4096 : 0,
			                               .copy = COPY_H2D,
			                               .correlation = correlation++,
			                               .name = name(b, in, 3 + k)});
			gpu += 41000 + (in->number[2] & 4 ? 30000 : 0);
		}
		end = gpu + 3000;
		build_call(b, &(struct build_call){.thread = thread,
		                                   .start = loaded + 7000,
		                                   .end = end,
		                                   .name = build_text(b, "cudaStreamSynchronize", 21)});
		build_os_call(
			b, &(struct build_os_call){
				   .thread = thread, .start = begin + 10, .end = loaded - 10, .name = name(b, in, 7)});
		add_range(b, &thread, begin, end, name(b, in, 0), 0);
		add_range(b, &thread, begin, loaded, name(b, in, 1), in->number[2] & 8 ? 7 : 0);
		add_range(b, &thread, loaded, end, name(b, in, 2), 0);
		at = end;
	}
	build_domain(b, build_process(b, PROCESS, PROCESS), 7, name(b, in, 8));
	build_thread_name(b, &thread, name(b, in, 9));
}

static const char *harmless(struct names *names, const struct input *in, size_t i)
{
	return names_text(names, names_add(names, in->text[i], in->n[i]));
}

static void make_trace(struct trace *trace, const struct input *in, int side, struct names *names, struct arena *arena)
{
	struct build b;
	build_begin(&b, trace, names, arena, false);
	build_from(&b, harmless(names, in, 10));
	add_steps(&b, in, side ? 100000 : 500000 + in->number[0] * 1000);
	if (in->number[2] & 16)
		build_drop(&b, ROWS_KERNELS, "a reason");
	build_finish(&b);
	trace->source.collector = in->number[2] & 32 ? harmless(names, in, 11) : "nsys";
	trace->source.exporter = harmless(names, in, 12);
	trace->source.incomplete = in->number[3] & 1 ? harmless(names, in, 13) : "";
	trace->source.driver = harmless(names, in, 14);
	trace->gpus = ARENA_NEW(arena, 1, struct trace_gpu);
	trace->gpus[0] = (struct trace_gpu){.name = names_add(names, in->text[15], in->n[15]), .sm_count = 8};
	trace->n_gpus = 1;
	for (uint32_t d = 0; d < trace->n_devices; d++)
		trace->devices[d].gpu = 0;
}

/* ---- what others read in the outputs ---- */

static bool is_one_of(const char *word, const char *list)
{
	size_t n = strlen(word);
	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	return false;
}

static const char elements[] = "a article b body button caption code dd defs desc details dialog div dl dt em "
			       "figcaption figure footer g h1 h2 h3 h4 "
			       "head header html i input kbd label li line main meta nav noscript ol p path pattern "
			       "polygon polyline rect circle "
			       "script section select option small span strong style sub summary sup svg table tbody "
			       "td text tfoot th thead time "
			       "title tr tspan ul use linearGradient stop clipPath skipped failure error testcase "
			       "testsuite testsuites system-out "
			       "properties property";

struct scripts {
	size_t run, data; /* data: of type text/plain, which no browser runs */
};

/* Elements are ours, none has a handler, links stay in the page. Counts scripts. */
static void walk(const xmlNode *node, struct scripts *scripts)
{
	for (; node; node = node->next) {
		if (node->type != XML_ELEMENT_NODE)
			continue;
		const char *word = (const char *)node->name;
		keep(is_one_of(word, elements), word);
		bool is_data = false;
		for (const xmlAttr *a = node->properties; a; a = a->next) {
			const char *key = (const char *)a->name;
			const char *value =
				a->children && a->children->content ? (const char *)a->children->content : "";
			keep(strncmp(key, "on", 2) != 0 && strcmp(key, "srcdoc") != 0, key);
			if (strcmp(key, "href") == 0 || strcmp(key, "src") == 0)
				keep(*value == '#', value);
			is_data = is_data || (strcmp(key, "type") == 0 && strcmp(value, "text/plain") == 0);
		}
		if (strcmp(word, "script") == 0)
			(*(is_data ? &scripts->data : &scripts->run))++;
		walk(node->children, scripts);
	}
}

/* A document with so many scripts, no more and no fewer. */
static void check_xml(const struct buf *out, bool html, struct scripts ours)
{
	const int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_HUGE;
	xmlDoc *doc = html ? htmlReadMemory(out->data, (int)out->n, NULL, "UTF-8",
	                                    HTML_PARSE_NONET | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING)
	                   : xmlReadMemory(out->data, (int)out->n, NULL, NULL, options);
	keep(doc != NULL, "it is parsed");
	struct scripts scripts = {0};
	walk(xmlDocGetRootElement(doc), &scripts);
	keep(scripts.run == ours.run, "scripts that run");
	keep(scripts.data == ours.data, "scripts that hold data");
	xmlFreeDoc(doc);
}

static void check_json(const char *text, size_t n)
{
	struct arena arena = {0};
	keep(json_read(text, n, &arena) != NULL, "JSON");
	arena_release(&arena);
}

static void check_packed_json(const struct buf *out)
{
	static char text[1 << 22];
	const size_t room = sizeof text;
	z_stream z = {.next_in = (Bytef *)out->data,
	              .avail_in = (uInt)out->n,
	              .next_out = (Bytef *)text,
	              .avail_out = (uInt)room};
	keep(inflateInit2(&z, 15 + 16) == Z_OK && inflate(&z, Z_FINISH) == Z_STREAM_END, "gzip");
	check_json(text, room - z.avail_out);
	inflateEnd(&z);
}

/* Outside code spans no text opens an element, calls anybody or names a link; a control character is nowhere. */
static void check_markdown(const struct buf *out)
{
	size_t code = 0;
	keep(out->n <= 65536, "as much as is shown");
	for (size_t i = 0; i < out->n; i++) {
		const char *at = out->data + i;
		unsigned char c = (unsigned char)*at, before = i ? (unsigned char)at[-1] : '\n';
		keep(c >= 0x20 || c == '\n', "control characters");
		if (c == '`' && (code || before != '\\')) { /* a span ends with as many as it began with */
			size_t n = strspn(at, "`");
			code = code ? (n == code ? 0 : code) : n;
			i += n - 1;
		} else if (!code && c == '<') {
			keep(strncmp(at, "<!-- gapline -->", 16) == 0 || strncmp(at, "<https://example.org/", 21) == 0,
			     "<");
		} else if (!code && c == '@') {
			unsigned char next = (unsigned char)at[1];
			keep(!(next < 0x80 && (next == '_' || (next | 32) >= 'a')) || (next | 32) > 'z', "@");
		} else if (c == '\n') {
			keep(!code, "a code span over lines");
		}
	}
	keep(!code, "an open code span");
}

static void check_terminal(const struct buf *out)
{
	for (size_t i = 0; i < out->n; i++) {
		unsigned char c = (unsigned char)out->data[i];
		keep((c >= 0x20 || c == '\n') && c != 0x7F, "control characters");
		keep(c != 0xC2 || (unsigned char)out->data[i + 1] >= 0xA0, "C1");
	}
}

/* The forms, in the order of `which`; 0: all of them. */
enum form { ALL, HTML, SVG, JUNIT, JSON, PERFETTO, MARKDOWN, TERMINAL, FORMS };

static void render_one(const struct analysis *a, enum form form)
{
	struct buf out = {0};
	struct err err = {0};
	struct markdown_wish wish = {"https://example.org/a.svg", "https://example.org/r", false};
	switch (form) {
	case HTML:
		keep(render_html(a, &out, &err) == 0, err.text);
		/* the early one and the module; the timeline's data, and the evidence where there are tables */
		check_xml(&out, true, (struct scripts){.run = 2, .data = a->tables ? 2 : 1});
		break;
	case SVG:
		keep(render_svg(a, &out, &err) == 0, err.text);
		check_xml(&out, false, (struct scripts){0});
		break;
	case JUNIT:
		keep(render_junit(a, &out, &err) == 0, err.text);
		check_xml(&out, false, (struct scripts){0});
		break;
	case JSON:
		keep(render_json(a, &out, &err) == 0, err.text);
		check_json(out.data, out.n);
		break;
	case PERFETTO:
		keep(render_perfetto(a, &out, &err) == 0, err.text);
		check_packed_json(&out);
		break;
	case MARKDOWN:
		for (int brief = 0; brief < 2; brief++) {
			out.n = 0;
			wish.brief = brief;
			keep(render_markdown(a, &wish, &out, &err) == 0, err.text);
			check_markdown(&out);
		}
		break;
	default:
		render_verdict(a, NULL, &out);
		check_terminal(&out);
		break;
	}
	buf_release(&out);
}

static void render_all(const struct analysis *a, uint8_t which)
{
	for (int form = ALL + 1; form < FORMS; form++)
		if (which % FORMS == ALL || which % FORMS == form)
			render_one(a, (enum form)form);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena arena = {0};
	struct names names;
	struct trace trace[2];
	struct analysis analysis;
	struct input in;
	struct err err = {0};
	struct gate_expression gate;
	split(&in, data, n, &arena);
	names_init(&names, &arena);
	for (int side = 0; side < 2; side++)
		make_trace(&trace[side], &in, side, &names, &arena);
	struct analyse_options options = {.warmup = -1, .gates.max_regression = -1, .events = true};
	options.title = in.n[16] ? harmless(&names, &in, 16) : NULL;
	for (size_t s = 0; s < 2; s++)
		options.name[s] = in.n[17 + s] ? harmless(&names, &in, 17 + s) : NULL;
	if (in.n[19]) {
		options.items[0] = 1 + in.number[4];
		options.items[1] = 1 + in.number[5];
		options.items_name = harmless(&names, &in, 19);
	}
	const char *asked = arena_format(&arena, "phase:%s.cost<%d%%", harmless(&names, &in, 20), in.number[5]);
	if (in.n[20] && gate_expression_parse(asked, &arena, &gate, &err) == 0) {
		options.gates.expressions = &gate;
		options.gates.n_expressions = 1;
	}
	if (in.number[3] & 2)
		options.nothing = FACT_NEW(&arena, files_grouped, FACT_NO_SIDE, .how = harmless(&names, &in, 21));
	const struct analyse_run run[] = {{&trace[0], in.text[22]}, {&trace[1], in.text[23]}};
	if (analyse_pair(&run[0], 1, &run[1], 1, &options, &names, &arena, &analysis, &err) == 0)
		render_all(&analysis, in.number[6]);
	else
		keep(err.text[0], "an error says why");
	arena_release(&arena);
	return 0;
}
