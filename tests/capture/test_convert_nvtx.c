/* NVTX events in a spool -> rows of NVTX_EVENTS. */
#include "support_convert.h"

#include <wchar.h>

static struct spool_event push_event(int64_t time, uint32_t domain)
{
	return (struct spool_event){.time = START + time, .type = SPOOL_PUSH, .domain = domain};
}

static void pop_at(struct spool_events *events, int64_t time, uint32_t domain)
{
	spool_event(events, (struct spool_event){.time = START + time, .type = SPOOL_POP, .domain = domain}, "", 0);
}

/* One process with the events of the main and of another thread, in that order in the file. */
static struct convert_result convert_events(struct support *s, struct spool_events *main, struct spool_events *helper,
                                            const char **db)
{
	struct spool_maker m;
	spool_begin(&m, PID, WRITER);
	if (main->bytes.n)
		spool_add_events(&m, MAIN, main);
	if (helper->bytes.n)
		spool_add_events(&m, HELPER, helper);
	spool_end(&m, START);
	write_spool(s, &m, "700-cuda-0.spool");
	return convert(s, db);
}

static void test_push_and_pop(void **state)
{
	struct support *s = *state;
	struct spool_events main = {{0}}, helper = {{0}};
	pop_at(&main, 5, 0); /* of a range that began before collection did */
	spool_event_text(&main, push_event(10, 0), "step");
	spool_event_text(&main, push_event(20, 3), "in a library");
	spool_event_text(&main, push_event(30, 0), "forward");
	pop_at(&main, 40, 3); /* domains have stacks of their own */
	pop_at(&main, 50, 0);
	pop_at(&main, 60, 0);
	spool_event_text(&main, push_event(70, 0), "open for ever");
	spool_event_text(&helper, push_event(15, 0), "worker");
	pop_at(&helper, 55, 0); /* threads too */
	const char *db;
	struct convert_result result = convert_events(s, &main, &helper, &db);
	assert_int_equal(result.ranges, 5);
	assert_int_equal(result.skipped, 0);
	assert_string_equal(query(s, db,
	                          "SELECT start, end, eventType, text, textId, domainId, globalTid & 0xFFFFFF, "
	                          "endGlobalTid, rangeId, category, color FROM NVTX_EVENTS ORDER BY start"),
	                    "10|60|59|step|-|0|700|-|-|-|-\n"
	                    "15|55|59|worker|-|0|701|-|-|-|-\n"
	                    "20|40|59|in a library|-|3|700|-|-|-|-\n"
	                    "30|50|59|forward|-|0|700|-|-|-|-\n"
	                    "70|-|59|open for ever|-|0|700|-|-|-|-");
}

static struct spool_event half(int type, int64_t time, uint64_t id)
{
	return (struct spool_event){.time = START + time, .type = (uint8_t)type, .id = id};
}

static void test_start_and_end(void **state)
{
	struct support *s = *state;
	struct spool_events main = {{0}}, helper = {{0}};
	spool_event(&main, half(SPOOL_STOP, 90, 12), "", 0); /* its start is further on in the file */
	spool_event(&main, half(SPOOL_STOP, 50, 11), "", 0);
	spool_event_text(&main, half(SPOOL_START, 10, 1), "own");
	spool_event_text(&main, half(SPOOL_START, 20, 2), "overlaps");
	spool_event(&main, half(SPOOL_STOP, 30, 1), "", 0);
	spool_event(&main, half(SPOOL_STOP, 35, 99), "", 0); /* never started */
	spool_event_text(&helper, half(SPOOL_START, 40, 11), "ended by another");
	spool_event_text(&helper, half(SPOOL_START, 95, 12), "ended before it began");
	spool_event(&helper, half(SPOOL_STOP, 60, 2), "", 0);
	spool_event_text(&helper, half(SPOOL_START, 70, (uint64_t)1 << 63), "open");
	const char *db;
	struct convert_result result = convert_events(s, &main, &helper, &db);
	assert_int_equal(result.ranges, 5);
	assert_int_equal(result.skipped, 1);
	assert_string_equal(query(s, db,
	                          "SELECT start, end, eventType, text, globalTid & 0xFFFFFF, endGlobalTid & 0xFFFFFF, "
	                          "rangeId FROM NVTX_EVENTS ORDER BY start"),
	                    "10|30|60|own|700|-|1\n"
	                    "20|60|60|overlaps|700|701|2\n"
	                    "40|50|60|ended by another|701|700|11\n"
	                    "70|-|60|open|701|-|-9223372036854775808\n"
	                    "95|-|60|ended before it began|701|-|12");
}

/* Very many ranges that are open at once, ended in another order: every one finds its own end. */
static void test_many_open_ranges(void **state)
{
	struct support *s = *state;
	struct spool_events main = {{0}}, helper = {{0}};
	enum { N = 5000, STEP = 1237 }; /* coprime: i * STEP % N meets every number once */
	for (uint64_t i = 0; i < N; i++)
		spool_event(&main, half(SPOOL_START, (int64_t)i, i * 64), "", 0);
	for (uint64_t i = 0; i < N; i++)
		spool_event(&main, half(SPOOL_STOP, (int64_t)(N + 2 * (i * STEP % N)), i * STEP % N * 64), "", 0);
	const char *db;
	convert_events(s, &main, &helper, &db);
	assert_string_equal(query(s, db, "SELECT count(*), sum(end = 5000 + 2 * start) FROM NVTX_EVENTS"), "5000|5000");
}

struct entry {
	struct spool_schema_entry head;
	char name[32];
};

static struct entry schema_entry(uint64_t type, uint64_t offset, uint64_t flags, const char *name)
{
	struct entry e = {.head = {.type = type, .offset = offset, .flags = flags, .bytes = sizeof e}};
	e.head.name_bytes = (uint32_t)strlen(name);
	memcpy(e.name, name, strlen(name));
	return e;
}

/* One payload, as the collector's library writes it. */
static void payload(struct spool_events *events, int64_t time, uint32_t domain, uint64_t range, uint64_t schema)
{
	const uint64_t words[] = {1, schema, 24, 32, 0xfedcba9876543210, 4096, 3};
	const struct spool_event e = {.time = START + time, .type = SPOOL_PAYLOAD, .domain = domain, .id = range};
	spool_event(events, e, words, sizeof words);
}

static void test_payloads(void **state)
{
	struct support *s = *state;
	struct spool_events main = {{0}}, helper = {{0}};
	struct spool_event schema = {
		.time = START + 1, .type = SPOOL_SCHEMA, .domain = 3, .id = 1 << 24, .category = 1, .payload = 24};
	const struct entry plain[] = {schema_entry(18, 0, 0, "NCCL communicator ID"),
	                              schema_entry(22, 8, 0, "Message size [bytes]"), schema_entry(5, 16, 0, "Root")};
	spool_event(&main, schema, plain, sizeof plain);
	/* Places by alignment: 1, 8, 4, 2 and again 8 bytes, then something whose size nobody knows. */
	const struct entry aligned[] = {schema_entry(1, 0, 0, "a"),  schema_entry(17, 0, 0, "b"),
	                                schema_entry(16, 0, 0, "c"), schema_entry(3, 0, 0, "d"),
	                                schema_entry(22, 0, 0, "e"), schema_entry(75, 0, 0, "text"),
	                                schema_entry(5, 0, 0, "f")};
	schema.id++;
	spool_event(&main, schema, aligned, sizeof aligned);
	schema.id++;
	schema.string = 4; /* packed */
	spool_event(&main, schema, aligned, sizeof aligned);
	const struct entry pointers[] = {schema_entry(18, 0, 2, "pointer"), schema_entry(5, 0, 0, "behind"),
	                                 schema_entry(5, 40, 0, "far")};
	schema.id++;
	schema.string = 0;
	spool_event(&main, schema, pointers, sizeof pointers);
	schema.id++;
	schema.category = 2; /* places that differ from payload to payload */
	spool_event(&main, schema, plain, sizeof plain);
	schema.id++;
	schema.category = 1;
	spool_event(&main, schema, plain, sizeof plain - sizeof *plain / 2); /* cut off */

	payload(&main, 5, 3, 0, 1 << 24); /* of a range that began before collection did */
	spool_event_text(&main, push_event(10, 3), "outer");
	spool_event_text(&main, push_event(20, 3), "inner");
	payload(&main, 20, 3, 0, 1 << 24);
	pop_at(&main, 30, 3);
	payload(&main, 40, 3, 0, (1 << 24) + 1); /* just before the range ends */
	pop_at(&main, 40, 3);
	spool_event_text(&main, push_event(50, 3), "twice");
	payload(&main, 50, 3, 0, 1 << 24);
	payload(&main, 60, 3, 0, (1 << 24) + 1);
	spool_event_text(&main, push_event(52, 2), "of another domain");
	spool_event_text(&main, half(SPOOL_START, 70, 7), "started");
	payload(&helper, 80, 3, 7, 1 << 24); /* ended by another thread */
	spool_event(&helper, half(SPOOL_STOP, 80, 7), "", 0);
	payload(&helper, 90, 3, 8, 1 << 24);
	payload(&helper, 90, 3, 0, 1 << 24); /* nothing is open there */
	const char *db;
	struct convert_result result = convert_events(s, &main, &helper, &db);
	assert_int_equal(result.skipped, 1);
	assert_string_equal(
		query(s, db,
	              "SELECT start, text, substr(hex(binaryData), 17, 2), length(binaryData) FROM NVTX_EVENTS "
	              "ORDER BY start"),
		"10|outer|01|56\n20|inner|00|56\n50|twice|00|56\n52|of another domain||-\n70|started|00|56");
	assert_string_equal(
		query(s, db, "SELECT schemaId & 15, numEntries, payloadSize, alignTo FROM NVTX_PAYLOAD_SCHEMAS"),
		"0|3|24|-\n1|5|24|-\n2|5|24|4\n3|1|24|-\n5|2|24|-");
	assert_string_equal(query(s, db,
	                          "SELECT schemaId & 15, group_concat(name || '@' || offset) FROM (SELECT * FROM "
	                          "NVTX_PAYLOAD_SCHEMA_ENTRIES ORDER BY schemaId, idx) GROUP BY 1"),
	                    "0|NCCL communicator ID@0,Message size [bytes]@8,Root@16\n"
	                    "1|a@0,b@8,c@16,d@20,e@24\n2|a@0,b@4,c@12,d@16,e@20\n3|pointer@0\n"
	                    "5|NCCL communicator ID@0,Message size [bytes]@8");
}

static void test_texts(void **state)
{
	struct support *s = *state;
	struct spool_events main = {{0}}, helper = {{0}};
	static const wchar_t wide[] = L"b\u00e9\u20ac\U0001F600", broken[] = {'x', 0xD800, 0x110000, 'y'};
	struct spool_event e = push_event(10, 0);
	e.text = SPOOL_WIDE;
	spool_event(&main, e, wide, sizeof wide - sizeof *wide);
	e = push_event(20, 0);
	e.text = SPOOL_WIDE;
	spool_event(&main, e, broken, sizeof broken);
	e = push_event(30, 0);
	e.text = SPOOL_REGISTERED;
	e.string = 5; /* registered by the other thread, further on in the file */
	spool_event(&main, e, "", 0);
	e.time++;
	e.string = 6; /* never registered */
	spool_event(&main, e, "", 0);
	spool_event(&main, push_event(40, 0), "", 0);
	e = push_event(50, 0);
	e.text = SPOOL_UTF8;
	spool_event(&main, e, "a\xFFz\0hidden", 10);
	e.time++;
	spool_event(&main, e, "", 0);
	spool_event_text(&helper, (struct spool_event){.type = SPOOL_STRING, .string = 5}, "registered");
	const char *db;
	convert_events(s, &main, &helper, &db);
	assert_string_equal(
		query(s, db,
	              "SELECT start, text, value FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId ORDER BY "
	              "start"),
		"10|b\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80|-\n"
		"20|x\xEF\xBF\xBD\xEF\xBF\xBDy|-\n"
		"30|-|registered\n31|-|-\n40|-|-\n50|a\xEF\xBF\xBDz|-\n51||-");
}

static void test_attributes(void **state)
{
	struct support *s = *state;
	struct spool_events main = {{0}}, helper = {{0}};
	double real = 0.5;
	float single = -2.25f;
	uint64_t real_bits;
	uint32_t single_bits;
	memcpy(&real_bits, &real, sizeof real);
	memcpy(&single_bits, &single, sizeof single);
	const uint64_t payloads[] = {0, UINT64_MAX, (uint64_t)-7, real_bits, 4000000000, (uint32_t)-9, single_bits};
	for (int type = 0; type <= 6; type++) {
		struct spool_event e = {.time = START + 10 + type, .type = SPOOL_MARK, .payload = payloads[type]};
		e.payload_type = (uint16_t)type;
		spool_event(&main, e, "", 0);
	}
	struct spool_event e = push_event(100, 0);
	e.category = 3;
	e.color = 0;
	e.has_color = 1;
	spool_event_text(&main, e, "coloured");
	e = push_event(110, 0);
	e.color = 0xFF00FF00;
	e.has_color = 1;
	spool_event_text(&main, e, "green");
	spool_event_text(&main,
	                 (struct spool_event){.time = START + 1, .type = SPOOL_CATEGORY, .domain = 2, .category = 3},
	                 "io");
	spool_event_text(&main, (struct spool_event){.time = START + 2, .type = SPOOL_NAME_THREAD, .id = HELPER},
	                 "loader");
	spool_event_text(&main, (struct spool_event){.time = START + 3, .type = SPOOL_DOMAIN, .domain = 2}, "mine");
	const char *db;
	convert_events(s, &main, &helper, &db);
	assert_string_equal(
		query(s, db,
	              "SELECT start, uint64Value, int64Value, doubleValue, uint32Value, int32Value, floatValue "
	              "FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY start"),
		"10|-|-|-|-|-|-\n11|-1|-|-|-|-|-\n12|-|-7|-|-|-|-\n13|-|-|0.5|-|-|-\n14|-|-|-|4000000000|-|-\n"
		"15|-|-|-|-|-9|-\n16|-|-|-|-|-|-2.25");
	assert_string_equal(query(s, db,
	                          "SELECT text, category, color FROM NVTX_EVENTS WHERE eventType = 59 ORDER BY "
	                          "start"),
	                    "coloured|3|0\ngreen|-|4278255360");
	assert_string_equal(
		query(s, db,
	              "SELECT start, eventType, text, category, domainId, globalTid & 0xFFFFFF FROM NVTX_EVENTS "
	              "WHERE start < 10 ORDER BY start"),
		"1|33|io|3|2|700\n2|39|loader|-|0|701\n3|75|mine|-|2|700");
}

/* Between two windows nothing is recorded: what was open when the first one closed must not swallow ends of the second.
 */
static void test_windows(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct spool_events events = {{0}};
	const struct spool_window closes = {.open = 0, .why = 2, .time = START + 50};
	spool_event_text(&events, push_event(10, 0), "whole");
	pop_at(&events, 20, 0);
	spool_event_text(&events, push_event(30, 0), "cut");
	/* … closed at 50, opened at 60 inside a range that was begun unseen … */
	pop_at(&events, 70, 0);
	spool_event_text(&events, push_event(80, 0), "second");
	pop_at(&events, 90, 0);
	spool_begin(&m, PID, WRITER);
	spool_add_events(&m, MAIN, &events);
	spool_add(&m, SPOOL_WINDOW, 0, &closes, sizeof closes);
	spool_end(&m, START);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	convert(s, &db);
	assert_string_equal(query(s, db, "SELECT start, end, text FROM NVTX_EVENTS ORDER BY start"),
	                    "10|20|whole\n30|-|cut\n80|90|second");
}

static void test_events_without_sense(void **state)
{
	struct support *s = *state;
	struct spool_events main = {{0}}, helper = {{0}};
	spool_event_text(&main, push_event(-5, 0), "before the capture");
	spool_event_text(&main, push_event(INT64_MAX - START, 0), "in a far future");
	spool_event_text(&main, (struct spool_event){.time = START + 5, .type = 200}, "of no known type");
	spool_event_text(&main, push_event(10, 0), "fine");
	pop_at(&main, 9, 0); /* ends before it starts: stays open */
	spool_event_text(&helper, push_event(20, 0), "fine too");
	spool_event_text(&helper, push_event(30, 0), "longer than its block");
	((struct spool_event *)(helper.bytes.data + 64))->bytes = 1 << 20;
	const char *db;
	struct convert_result result = convert_events(s, &main, &helper, &db);
	assert_int_equal(result.skipped, 5);
	assert_string_equal(query(s, db, "SELECT start, end, text FROM NVTX_EVENTS ORDER BY start"),
	                    "10|-|fine\n20|-|fine too");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_push_and_pop, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_start_and_end, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_many_open_ranges, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_payloads, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_texts, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_attributes, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_windows, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_events_without_sense, support_setup, support_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
