#include "graph_nodes.h"

#include "py.h"
#include "spool_events.h"
#include "table.h"

enum { NODE_DEPTH = 64 }; /* frames that are noted of a node */

static const struct cupti_api *api;

/* Calls that copy graphs, whose nodes are said to be made before they are said to be copies. */
static const struct {
	CUpti_CallbackId id;
	bool instantiates;
} copies[] = {
	{CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate, true},
	{CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate_v2, true},
	{CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, true},
	{CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams, true},
	{CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz, true},
	{CUPTI_DRIVER_TRACE_CBID_cuGraphClone, false},
	{CUPTI_DRIVER_TRACE_CBID_cuGraphAddChildGraphNode, false},
};
enum { COPIES = sizeof copies / sizeof *copies };

static __thread bool copying, instantiating; /* the thread is in such a call */

/* Asks for two of the callbacks, or for none of them. */
static CUptiResult watch(CUpti_SubscriberHandle subscriber, const CUpti_CallbackId ids[2])
{
	CUptiResult result = CUPTI_SUCCESS;
	for (int i = 0; i < 2 && result == CUPTI_SUCCESS; i++)
		result = api->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, ids[i]);
	for (int i = 0; i < 2 && result != CUPTI_SUCCESS; i++)
		api->cuptiEnableCallback(0, subscriber, CUPTI_CB_DOMAIN_RESOURCE, ids[i]);
	return result;
}

CUptiResult graph_nodes_watch(const struct cupti_api *from, CUpti_SubscriberHandle subscriber)
{
	/* Without one of the two, copies would be of the call that instantiates; */
	static const CUpti_CallbackId made[] = {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
	                                        CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};
	/* without one of these, nodes that are gone would be asked for their numbers. */
	static const CUpti_CallbackId moved[] = {CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING,
	                                         CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED};
	api = from;
	CUptiResult result = api->graph_node_id ? watch(subscriber, made) : CUPTI_ERROR_NOT_SUPPORTED;
	if (result != CUPTI_SUCCESS)
		return result;
	for (size_t i = 0; i < COPIES; i++)
		api->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, copies[i].id);
	watch(subscriber, moved);
	return CUPTI_SUCCESS;
}

/* ---- nodes of child graphs ---- */

/* Instantiating copies the nodes of child graphs, too, and then moves the copies into the graph around them, where they
 * get other numbers, by which they run. CUPTI says nothing of that, but the nodes stay where they are in memory: those
 * that were copied are remembered until the graph is ready, or until they are destroyed, as what stands for a copy or a
 * memset is before that, though it runs by the number that it had. A node that was moved is a copy of what it was. */
struct copied {
	CUgraphNode node; /* NULL: unused */
	uint64_t id;      /* as it was noted; 0: it is gone */
};

static __thread struct copied *copied; /* by node, at most half full; while the thread instantiates */
static __thread size_t copied_room, n_copied;

static struct copied *copied_slot(struct copied *table, size_t room, CUgraphNode node)
{
	size_t i = (size_t)((uintptr_t)node >> 3) * UINT64_C(0x9E3779B97F4A7C15) >> 20 & (room - 1);
	while (table[i].node && table[i].node != node)
		i = (i + 1) & (room - 1);
	return &table[i];
}

static bool copied_grow(void)
{
	size_t room = copied_room ? 2 * copied_room : 256;
	struct copied *table = table_map(room * sizeof *table);
	if (!table)
		return false;
	for (size_t i = 0; i < copied_room; i++)
		if (copied[i].node)
			*copied_slot(table, room, copied[i].node) = copied[i];
	table_unmap(copied, copied_room * sizeof *copied);
	copied = table;
	copied_room = room;
	return true;
}

static void copied_forget(void)
{
	table_unmap(copied, copied_room * sizeof *copied);
	copied = NULL;
	copied_room = n_copied = 0;
}

static void remember(CUgraphNode node, uint64_t id)
{
	if (2 * n_copied >= copied_room && !copied_grow())
		return;
	struct copied *c = copied_slot(copied, copied_room, node);
	n_copied += !c->node;
	*c = (struct copied){node, id};
}

/* A copy has the number by which it will run. */
static void note_moved(struct copied *c)
{
	struct spool_event event = {.type = SPOOL_NODE, .time = spool_now(), .payload = c->id};
	if (c->id && api->graph_node_id(c->node, &event.id) == CUPTI_SUCCESS && event.id != c->id)
		spool_event_put(event, NULL, 0, NULL, 0);
	c->id = 0;
}

static void note_destroyed(const CUpti_GraphData *graph)
{
	if (copied)
		note_moved(copied_slot(copied, copied_room, graph->node));
}

static void note_ready(void)
{
	for (size_t i = 0; i < copied_room; i++)
		note_moved(&copied[i]);
	copied_forget();
}

/* ---- all nodes ---- */

/* A node of a graph was made, or is a copy. The thread that captures is in the call that is captured, and in its
 * ranges; for the copies that instantiating makes CUPTI says both, made and then copied. */
static void note_node(const CUpti_GraphData *graph, bool is_copy)
{
	struct spool_event event = {.type = SPOOL_NODE, .time = spool_now()};
	if (!spool_window(event.time) || api->graph_node_id(graph->node, &event.id) != CUPTI_SUCCESS ||
	    (is_copy && api->graph_node_id(graph->originalNode, &event.payload) != CUPTI_SUCCESS))
		return;
	struct spool_frame frames[NODE_DEPTH];
	bool cut = false;
	size_t n = is_copy || copying ? 0 : here_frames(frames, NODE_DEPTH, &cut); /* a copy's are the original's */
	event.category = cut;
	spool_event_put(event, frames, n * sizeof *frames, NULL, 0);
	if (is_copy && instantiating)
		remember(graph->node, event.id);
}

void graph_nodes_resource(CUpti_CallbackId id, const CUpti_ResourceData *resource)
{
	if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED || id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
		note_node(resource->resourceDescriptor, id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
	else if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING)
		note_destroyed(resource->resourceDescriptor);
	else if (id == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED)
		note_ready();
}

void graph_nodes_call(CUpti_CallbackId id, bool enters)
{
	for (size_t i = 0; i < COPIES; i++) {
		if (id != copies[i].id)
			continue;
		copying = enters;
		instantiating = enters && copies[i].instantiates;
		copied_forget(); /* where it failed there is something left */
	}
}
