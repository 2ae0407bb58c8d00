#include "read/nsys.h"

#include "base/buf.h"
#include "base/json_scan.h"
#include "base/list.h"

#include <inttypes.h>
#include <string.h>

static const char *const ENTRY_NAMES[PAYLOAD_ENTRIES] = {"NCCL communicator ID", "Message size [bytes]", "Peer rank",
                                                         "No. of ranks", "Rank"};

/* Bytes of NVTX's entry types (nvToolsExtPayload.h, NVTX_PAYLOAD_ENTRY_TYPE_*) that such an entry may have; 0: of
 * another kind. */
static uint8_t size_of_type(int64_t type)
{
	enum {
		INT = 5,
		UINT = 6,
		LONG = 7,
		ULONGLONG = 10,
		INT32 = 15,
		UINT32 = 16,
		INT64 = 17,
		UINT64 = 18,
		SIZE = 22
	};
	if (type == INT || type == UINT || type == INT32 || type == UINT32)
		return 4;
	return (type >= LONG && type <= ULONGLONG) || type == INT64 || type == UINT64 || type == SIZE ? 8 : 0;
}

/* The root of a broadcast or a reduce stands where the peer of a send does: no payload has both. */
static int entry_of(const char *name, size_t n)
{
	static const char root[] = "Root";
	int entry = 0;
	if (n == strlen(root) && memcmp(name, root, n) == 0)
		return PAYLOAD_PEER;
	while (entry < PAYLOAD_ENTRIES && (strlen(ENTRY_NAMES[entry]) != n || memcmp(name, ENTRY_NAMES[entry], n) != 0))
		entry++;
	return entry;
}

static const struct payload_layout *find(const struct payloads *payloads, uint64_t id)
{
	for (size_t i = 0; i < payloads->n; i++)
		if (payloads->list[i].id == id)
			return &payloads->list[i];
	return NULL;
}

int payloads_read(struct db *db, struct arena *arena, struct payloads *out)
{
	enum { SCHEMA, TYPE, NAME, OFFSET, N };
	enum { MOST = 4096 }; /* layouts: NCCL has some twenty */
	static const char *const columns[] = {"schemaId", "type", "name", "offset"};
	struct scan s;
	*out = (struct payloads){0};
	scan_open(&s, db, "NVTX_PAYLOAD_SCHEMA_ENTRIES", columns, N);
	while (scan_row(&s)) {
		size_t n;
		int64_t id = scan_int(&s, SCHEMA), type = scan_int_or(&s, TYPE, 0), at = scan_int_or(&s, OFFSET, 0);
		const char *name = scan_text(&s, NAME, &n);
		int entry = name ? entry_of(name, n) : PAYLOAD_ENTRIES;
		uint8_t size = size_of_type(type);
		if (s.flaws || entry == PAYLOAD_ENTRIES || !size || at < 0 || at > UINT16_MAX - size)
			continue;
		struct payload_layout *layout = (struct payload_layout *)find(out, (uint64_t)id);
		if (!layout && out->n < MOST) {
			LIST_GROW(arena, out->list, out->n, out->room);
			layout = &out->list[out->n++];
			*layout = (struct payload_layout){.id = (uint64_t)id};
		}
		if (!layout)
			continue;
		layout->contradicted =
			layout->contradicted ||
			(layout->size[entry] && (layout->at[entry] != at || layout->size[entry] != size));
		layout->at[entry] = (uint16_t)at;
		layout->size[entry] = size;
	}
	return scan_close(&s);
}

/* ---- a row ---- */

static void set(struct build_comm_call *call, int entry, uint64_t value)
{
	uint32_t number = value < 1 << 24 ? (uint32_t)value : TRACE_NONE; /* of ranks */
	if (entry == PAYLOAD_COMM)
		call->comm = (int64_t)value;
	else if (entry == PAYLOAD_BYTES)
		call->bytes = value <= INT64_MAX ? (int64_t)value : -1;
	else if (entry == PAYLOAD_PEER)
		call->peer = number;
	else if (entry == PAYLOAD_RANKS)
		call->ranks = number;
	else
		call->rank = number;
}

static const struct build_comm_call nothing = {
	.bytes = -1, .peer = TRACE_NONE, .rank = TRACE_NONE, .ranks = TRACE_NONE};

static uint64_t number_at(const unsigned char *bytes, size_t size)
{
	uint64_t value = 0;
	for (size_t i = size; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

bool payloads_of_bytes(const struct payloads *payloads, const unsigned char *bytes, size_t n,
                       struct build_comm_call *out)
{
	enum { WORD = 8, HEAD = 3 * WORD };
	*out = nothing;
	uint64_t count = n >= WORD ? number_at(bytes, WORD) : 0;
	for (uint64_t i = 0; i < count && (i + 1) * HEAD + WORD <= n; i++) {
		const unsigned char *head = bytes + WORD + i * HEAD;
		const struct payload_layout *layout = find(payloads, number_at(head, WORD));
		uint64_t size = number_at(head + WORD, WORD), at = number_at(head + WORD + WORD, WORD);
		if (!layout || layout->contradicted || at > n || size > n - at)
			continue;
		for (int entry = 0; entry < PAYLOAD_ENTRIES; entry++)
			if (layout->size[entry] && layout->at[entry] + (uint64_t)layout->size[entry] <= size)
				set(out, entry, number_at(bytes + at + layout->at[entry], layout->size[entry]));
	}
	return out->comm != 0;
}

/* A communicator's id may be beyond what a signed number holds. */
static bool unsigned_number(const char *text, size_t n, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9' || *value > (UINT64_MAX - (uint64_t)(text[i] - '0')) / 10)
			return false;
		*value = 10 * *value + (uint64_t)(text[i] - '0');
	}
	return n > 0;
}

bool payloads_of_json(const char *text, size_t n, struct build_comm_call *out)
{
	enum { DEEPEST = 15 };
	struct json_scan s;
	int entry = PAYLOAD_ENTRIES;
	uint64_t value;
	*out = nothing;
	json_scan_open_text(&s, text, n, DEEPEST);
	for (enum json_token token; (token = json_scan_next(&s)) > TOKEN_END;)
		if (token == TOKEN_KEY)
			entry = s.depth == 1 ? entry_of(s.text, s.n) : PAYLOAD_ENTRIES;
		else if (token == TOKEN_NUMBER && s.depth == 1 && entry < PAYLOAD_ENTRIES &&
		         unsigned_number(s.text, s.n, &value))
			set(out, entry, value);
	json_scan_close(&s);
	return !s.flaw && out->comm != 0;
}

/* Either form may stand in either column: a copy that scrub_profile made has text for bytes. */
static bool of_value(const struct payloads *payloads, sqlite3_value *value, struct build_comm_call *out)
{
	int type = sqlite3_value_type(value);
	if (type == SQLITE_BLOB && payloads->n) {
		const unsigned char *bytes = sqlite3_value_blob(value);
		return bytes && payloads_of_bytes(payloads, bytes, (size_t)sqlite3_value_bytes(value), out);
	}
	const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : NULL;
	size_t n = text ? (size_t)sqlite3_value_bytes(value) : 0;
	return text && memmem(text, n, ENTRY_NAMES[PAYLOAD_COMM], strlen(ENTRY_NAMES[PAYLOAD_COMM])) &&
	       payloads_of_json(text, n, out);
}

bool payloads_of_row(const struct payloads *payloads, struct scan *scan, int binary, int json, int64_t domain,
                     struct build_comm_call *out)
{
	if (!domain) /* the default one is the program's own */
		return false;
	return (scan->has[binary] && of_value(payloads, sqlite3_column_value(scan->statement, binary), out)) ||
	       (scan->has[json] && of_value(payloads, sqlite3_column_value(scan->statement, json), out));
}

/* ---- a copy ---- */

static void add_entry(struct buf *to, int entry, bool known, uint64_t value)
{
	if (known)
		buf_format(to, "%s\"%s\":%" PRIu64, to->n ? "," : "{", ENTRY_NAMES[entry], value);
}

int payloads_bind(const struct payloads *payloads, sqlite3_value *value, sqlite3_stmt *to, int parameter)
{
	struct build_comm_call call;
	BUF_LOCAL(text);
	if (!of_value(payloads, value, &call))
		return sqlite3_bind_null(to, parameter);
	add_entry(&text, PAYLOAD_COMM, true, (uint64_t)call.comm);
	add_entry(&text, PAYLOAD_BYTES, call.bytes >= 0, (uint64_t)call.bytes);
	add_entry(&text, PAYLOAD_PEER, call.peer != TRACE_NONE, call.peer);
	add_entry(&text, PAYLOAD_RANKS, call.ranks != TRACE_NONE, call.ranks);
	add_entry(&text, PAYLOAD_RANK, call.rank != TRACE_NONE, call.rank);
	buf_text(&text, "}");
	return sqlite3_bind_text64(to, parameter, text.data, text.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}
