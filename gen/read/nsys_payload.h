/* What NVTX ranges of NCCL say of a collective: their payloads, as nsys exports them.
 *
 * `nsys export --include-blobs=true` writes a range's payloads into NVTX_EVENTS.binaryData: their number, then for each
 * one the id of its layout, its size and where in the bytes it stands, eight bytes each; the payloads follow. Layouts
 * are in NVTX_PAYLOAD_SCHEMA_ENTRIES. `--include-json=true` writes the same as text, {"NCCL communicator ID":…}, into
 * jsonText. (Both seen of nsys 2025.3 with NCCL 2.28.) What is read are the entries that NCCL calls "NCCL communicator
 * ID", "Message size [bytes]", "Peer rank", "Root", "No. of ranks" and "Rank" (NCCL's
 * src/include/nvtx_payload_schemas.h); payloads without the first one are somebody else's. */
#ifndef GAPLINE_READ_NSYS_PAYLOAD_H
#define GAPLINE_READ_NSYS_PAYLOAD_H

#include "read/nsys.h"

enum payload_entry { PAYLOAD_COMM, PAYLOAD_BYTES, PAYLOAD_PEER, PAYLOAD_RANKS, PAYLOAD_RANK, PAYLOAD_ENTRIES };

/* A layout: where the entries stand, and how many bytes they have; 0: it has no such entry. */
struct payload_layout {
	uint64_t id;
	uint16_t at[PAYLOAD_ENTRIES];
	uint8_t size[PAYLOAD_ENTRIES];
	bool contradicted; /* two processes have another layout by this id */
};

struct payloads {
	struct payload_layout *list;
	size_t n, room;
};

/* The layouts, from `arena`. -1 with the database's err: the table is damaged. */
int payloads_read(struct db *db, struct arena *arena, struct payloads *out);

/* What the row at hand says: `binary` and `json` are its columns for the two. False: nothing of NCCL. Values of a wrong
 * type, and bytes that do not fit their layout, say nothing. */
bool payloads_of_row(const struct payloads *payloads, struct scan *scan, int binary, int json, int64_t domain,
                     struct build_comm_call *out);

/* The two forms. */
bool payloads_of_bytes(const struct payloads *payloads, const unsigned char *bytes, size_t n,
                       struct build_comm_call *out);
bool payloads_of_json(const char *text, size_t n, struct build_comm_call *out);

/* Binds what a payload says, as text and nothing else of it, to a parameter of a statement; NULL where it is nothing of
 * NCCL. SQLite's result. */
int payloads_bind(const struct payloads *payloads, sqlite3_value *value, sqlite3_stmt *to, int parameter);

#endif
