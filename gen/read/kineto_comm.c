#include "read/kineto_comm.h"

#include "base/list.h"
#include "read/name_hash.h"

#include <string.h>

/* c10d's words (its "Collective name") and NCCL's. Sends and receives are not among them: whom they go to is not said
 * in numbers of the communicator. */
static const struct {
	const char *pytorch, *nccl;
} COLLECTIVES[] = {
	{"allreduce", "ncclAllReduce"},
	{"allreduce_coalesced", "ncclAllReduce"},
	{"allgather", "ncclAllGather"},
	{"_allgather_base", "ncclAllGather"},
	{"allgather_into_tensor_coalesced", "ncclAllGather"},
	{"reduce_scatter", "ncclReduceScatter"},
	{"_reduce_scatter_base", "ncclReduceScatter"},
	{"reduce_scatter_tensor_coalesced", "ncclReduceScatter"},
	{"all_to_all", "ncclAllToAll"},
	{"all_to_allv", "ncclAllToAll"},
	{"alltoall", "ncclAllToAll"},
	{"alltoall_base", "ncclAllToAll"},
};

/* Bytes of one element, by c10's names of scalar types. */
static const struct {
	const char *type;
	uint8_t bytes;
} TYPES[] = {
	{"Float", 4},
	{"Half", 2},
	{"BFloat16", 2},
	{"Double", 8},
	{"Long", 8},
	{"Int", 4},
	{"Short", 2},
	{"Byte", 1},
	{"Char", 1},
	{"Bool", 1},
	{"UInt16", 2},
	{"UInt32", 4},
	{"UInt64", 8},
	{"Float8_e4m3fn", 1},
	{"Float8_e5m2", 1},
	{"ComplexHalf", 4},
	{"ComplexFloat", 8},
	{"ComplexDouble", 16},
	{"Float8_e4m3fnuz", 1},
	{"Float8_e5m2fnuz", 1},
};

uint8_t kineto_collective(const char *text, size_t n)
{
	for (size_t i = 0; i < sizeof COLLECTIVES / sizeof *COLLECTIVES; i++)
		if (strlen(COLLECTIVES[i].pytorch) == n && memcmp(COLLECTIVES[i].pytorch, text, n) == 0)
			return (uint8_t)(i + 1);
	return 0;
}

uint8_t kineto_element_bytes(const char *text, size_t n)
{
	for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
		if (strlen(TYPES[i].type) == n && memcmp(TYPES[i].type, text, n) == 0)
			return TYPES[i].bytes;
	return 0;
}

/* NCCL's message size, as its own payloads have it: one rank's share of all-gather, reduce-scatter and all-to-all. 0:
 * not known. */
static int64_t message_bytes(const struct kineto_event *e, const char *nccl)
{
	bool scatters = strcmp(nccl, "ncclReduceScatter") == 0, all_to_all = strcmp(nccl, "ncclAllToAll") == 0;
	const struct kineto_value *elements = scatters ? &e->elements_out : &e->elements_in;
	int64_t bytes;
	if (!elements->there || elements->value < 0 || (all_to_all && (e->uneven || e->group_size.value < 1)) ||
	    __builtin_mul_overflow(elements->value, (int64_t)e->element_bytes, &bytes))
		return 0;
	return all_to_all ? bytes / e->group_size.value : bytes;
}

void kineto_comm_keep(struct kineto *k, const struct kineto_event *e)
{
	if (!e->collective || !e->correlation.there)
		return;
	const char *nccl = COLLECTIVES[e->collective - 1].nccl;
	uint32_t known = k->n_comms, i = keymap_add(&k->comm_keys, (uint64_t)e->correlation.value);
	if (i < known)
		return;
	/* A process group is a communicator: its name, which all ranks count alike, and who is in it. */
	uint64_t group = e->group_name ? e->group_name ^ e->group_ranks * 0x9e3779b97f4a7c15u : 0;
	LIST_GROW(&k->scratch, k->comms, k->n_comms, k->comm_room);
	k->comms[k->n_comms++] =
		(struct kineto_comm){.comm = (int64_t)(group >> 1), .bytes = message_bytes(e, nccl), .name = nccl};
}

void kineto_comm_give(struct kineto *k, const struct kineto_span *call, const struct build_range *range)
{
	uint32_t i = k->n_comms ? keymap_find(&k->comm_keys, (uint64_t)call->correlation) : UINT32_MAX;
	if (i == UINT32_MAX)
		return;
	struct build_range named = *range;
	named.name = build_text(k->build, k->comms[i].name, strlen(k->comms[i].name));
	build_comm_call(k->build, &named,
	                &(struct build_comm_call){.comm = k->comms[i].comm,
	                                          .bytes = k->comms[i].bytes,
	                                          .peer = TRACE_NONE,
	                                          .rank = TRACE_NONE,
	                                          .ranks = TRACE_NONE});
}
