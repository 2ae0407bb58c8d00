/* A program that says with NVTX what NCCL 2.28 says of its calls, in the ways in which NCCL says it;
 * check_inject_nvtx.py knows what its spool has to hold. Built for several versions of NVTX's extension. */
#include <nvtx3/nvToolsExt.h>
#if defined(__has_include) && __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { ALL_REDUCE = (1 << 24) + 5, SEND = (1 << 24) + 9, INIT = (1 << 24) + 11, OPERATION = (1 << 24) + 20 };

struct all_reduce {
	uint64_t comm;
	size_t bytes;
	int operation;
};
struct send {
	uint64_t comm;
	size_t bytes;
	int peer;
};
struct init {
	uint64_t comm;
	int ranks, rank, device;
};

static const nvtxPayloadSchemaEntry_t all_reduce_entries[] = {
	{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", NULL, 0, offsetof(struct all_reduce, comm), NULL,
         NULL},
	{0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", NULL, 0, offsetof(struct all_reduce, bytes), NULL,
         NULL},
	{0, OPERATION, "Reduction operation", NULL, 0, offsetof(struct all_reduce, operation), NULL, NULL},
};
static const nvtxPayloadSchemaEntry_t send_entries[] = {
	/* without offsets: those of the alignment */
	{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", NULL, 0, 0, NULL, NULL},
	{0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", NULL, 0, 0, NULL, NULL},
	{0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Peer rank", NULL, 0, 0, NULL, NULL},
};
static const nvtxPayloadSchemaEntry_t init_entries[] = {
	{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", NULL, 0, offsetof(struct init, comm), NULL, NULL},
	{0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", NULL, 0, offsetof(struct init, ranks), NULL, NULL},
	{0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", NULL, 0, offsetof(struct init, rank), NULL, NULL},
	{0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "CUDA device", NULL, 0, offsetof(struct init, device), NULL, NULL},
};

static uint64_t add_schema(nvtxDomainHandle_t d, const nvtxPayloadSchemaEntry_t *entries, size_t n, size_t bytes,
                           uint64_t id)
{
	nvtxPayloadSchemaAttr_t a = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = n,
		.payloadStaticSize = bytes,
		.schemaId = id};
	if (id)
		a.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
	return nvtxPayloadSchemaRegister(d, &a);
}

static nvtxEventAttributes_t attributes(nvtxStringHandle_t name, const nvtxPayloadData_t *data, int n)
{
	nvtxEventAttributes_t a;
	memset(&a, 0, sizeof a);
	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = name;
	if (n) {
		a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
		a.reserved0 = n;
		a.payload.ullValue = (uint64_t)(uintptr_t)data;
	}
	return a;
}

int main(void)
{
	const uint64_t comm = 0xfedcba9876543210;
	const struct all_reduce reduced = {comm, 4096, 0};
	const struct send sent = {comm, 512, 1};
	const struct init begun = {comm, 2, 0, 0};
	static char huge[1 << 20];
	nvtxDomainHandle_t d = nvtxDomainCreateA("NCCL");
	nvtxStringHandle_t init = nvtxDomainRegisterStringA(d, "ncclCommInitRank"),
			   reduce = nvtxDomainRegisterStringA(d, "ncclAllReduce"),
			   send = nvtxDomainRegisterStringA(d, "ncclSend");

	/* A payload that is known only when the range ends, of a layout that comes while it is open. */
	nvtxEventAttributes_t a = attributes(init, NULL, 0);
	nvtxDomainRangePushEx(d, &a);
	printf("ids %llx", (unsigned long long)add_schema(d, init_entries, 4, sizeof begun, INIT));
	nvtxPayloadData_t data = {INIT, sizeof begun, &begun};
	printf(" depth %d", nvtxRangePopPayload(d, &data, 1));

	printf(" %llx", (unsigned long long)add_schema(d, all_reduce_entries, 3, sizeof reduced, ALL_REDUCE));
	nvtxPayloadEnum_t sum = {"Sum", 0, 0};
	nvtxPayloadEnumAttr_t operations = {
		.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
	                     NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID,
		.entries = &sum,
		.numEntries = 1,
		.sizeOfEnum = sizeof(int),
		.schemaId = OPERATION};
	printf(" %llx", (unsigned long long)nvtxPayloadEnumRegister(d, &operations));
	data = (nvtxPayloadData_t){ALL_REDUCE, sizeof reduced, &reduced};
	a = attributes(reduce, &data, 1);
	nvtxDomainRangePushEx(d, &a);
	nvtxDomainRangePop(d);

	uint64_t own = add_schema(d, send_entries, 3, sizeof sent, 0); /* an id that the recorder hands out */
	printf(" %d", own > UINT32_MAX && add_schema(d, send_entries, 3, sizeof sent, 0) != own);
	nvtxPayloadData_t two[] = {{own, sizeof sent, &sent}, {ALL_REDUCE, sizeof reduced, &reduced}};
	a = attributes(send, two, 2);
	nvtxRangeId_t range = nvtxDomainRangeStartEx(d, &a);
	nvtxDomainRangeEnd(d, range);

	/* What cannot be recorded leaves nothing but the range. */
	data = (nvtxPayloadData_t){own, SIZE_MAX, &sent};
	printf(" %d", nvtxRangePushPayload(d, &data, 1));
	nvtxDomainRangePop(d);
	data = (nvtxPayloadData_t){own, sizeof huge, huge};
	range = nvtxRangeStartPayload(d, &data, 1);
	data = (nvtxPayloadData_t){own, sizeof sent, &sent};
	nvtxRangeEndPayload(d, range, &data, 1);
	nvtxRangePushPayload(d, &data, 0);
	nvtxDomainRangePop(d);
	nvtxRangePushPayload(d, NULL, 1);
	nvtxDomainRangePop(d);
	add_schema(d, NULL, 3, 1, 7);
	add_schema(d, send_entries, SIZE_MAX, 1, 8);
	nvtxPayloadSchemaRegister(d, NULL);
	nvtxMarkPayload(d, &data, 1);
	printf(" enabled %d\n", nvtxDomainIsEnabled(d));
	return 0;
}
#else
int main(void)
{
	return 77; /* the NVTX of this toolkit has no payloads */
}
#endif
