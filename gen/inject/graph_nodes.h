/* Who makes the nodes of CUDA graphs: what CUPTI says while a program captures, copies and instantiates them becomes
 * events of the spool (SPOOL_NODE). Nothing is asked while a graph runs. */
#ifndef GAPLINE_INJECT_GRAPH_NODES_H
#define GAPLINE_INJECT_GRAPH_NODES_H

#include "cupti_api.h"

/* Asks CUPTI to say it, once, before the first graph; `api` lasts as long as the process. Not CUPTI_SUCCESS: nothing
 * will be noted, for this reason. */
CUptiResult graph_nodes_watch(const struct cupti_api *api, CUpti_SubscriberHandle subscriber);

/* What the subscriber is told: of a resource, and of a call of the driver that begins (`enters`) or ends. By the thread
 * that makes the call; other callbacks than those asked for are passed over. */
void graph_nodes_resource(CUpti_CallbackId id, const CUpti_ResourceData *resource);
void graph_nodes_call(CUpti_CallbackId id, bool enters);

#endif
