// Graphs whose nodes come about in every way, one a word, in ranges: `graph-nodes child 50` replays such a graph in 50
// steps. It prints which range has how many microseconds of each step; none has what follows "-".
//
//	nvcc -O2 -std=c++17 -arch=native -rdc=true -o graph-nodes graph_nodes.cu -lcudadevrt
//	graph-nodes CASE [STEPS]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <thread>

static void check(cudaError_t result, int line)
{
	if (result == cudaSuccess)
		return;
	fprintf(stderr, "graph-nodes: line %d: %s\n", line, cudaGetErrorString(result));
	exit(1);
}
#define CHECK(call) check((call), __LINE__)

/* Runs for `us` microseconds. */
__global__ void spin(int us)
{
	long long begin, now;
	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
	do {
		asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
	} while (now - begin < us * 1000LL);
}

struct range {
	explicit range(const char *name)
	{
		nvtxRangePushA(name);
	}
	~range()
	{
		nvtxRangePop();
	}
};

static cudaStream_t s;

static void begin(cudaStream_t on)
{
	CHECK(cudaStreamBeginCapture(on, cudaStreamCaptureModeThreadLocal));
}

static cudaGraph_t end(cudaStream_t on)
{
	cudaGraph_t graph;
	CHECK(cudaStreamEndCapture(on, &graph));
	return graph;
}

/* A graph of one kernel, captured in a range. */
static cudaGraph_t captured(const char *name, int us)
{
	begin(s);
	{
		range in(name);
		spin<<<1, 1, 0, s>>>(us);
	}
	return end(s);
}

static cudaGraphExec_t ready(cudaGraph_t graph)
{
	cudaGraphExec_t exec;
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	return exec;
}

static cudaGraphNode_t add(cudaGraph_t graph, cudaGraphNode_t after, int us)
{
	cudaKernelNodeParams params = {};
	void *words[] = {&us};
	cudaGraphNode_t node;
	params.func = (void *)spin;
	params.gridDim = params.blockDim = dim3(1);
	params.kernelParams = words;
	CHECK(cudaGraphAddKernelNode(&node, graph, &after, after != nullptr, &params));
	return node;
}

static cudaGraphExec_t by_capture()
{
	printf("captured 300\n");
	return ready(captured("captured", 300));
}

/* Nodes are added to a graph by calls of their own. */
static cudaGraphExec_t by_hand()
{
	cudaGraph_t graph;
	cudaGraphNode_t first;
	CHECK(cudaGraphCreate(&graph, 0));
	{
		range in("first");
		first = add(graph, nullptr, 100);
	}
	{
		range in("second");
		add(graph, first, 200);
	}
	printf("first 100\nsecond 200\n");
	return ready(graph);
}

/* A captured graph is a node of another one, twice. */
static cudaGraphExec_t child()
{
	cudaGraph_t inner = captured("inner", 100), outer;
	cudaGraphNode_t nodes[3];
	CHECK(cudaGraphCreate(&outer, 0));
	{
		range in("outer");
		CHECK(cudaGraphAddChildGraphNode(&nodes[0], outer, nullptr, 0, inner));
		nodes[1] = add(outer, nodes[0], 50);
		CHECK(cudaGraphAddChildGraphNode(&nodes[2], outer, &nodes[1], 1, inner));
	}
	printf("inner 200\nouter 50\n");
	return ready(outer);
}

/* A child is captured while another graph is made, in its range. */
static cudaGraphExec_t nested()
{
	cudaGraph_t outer;
	cudaGraphNode_t nodes[2];
	CHECK(cudaGraphCreate(&outer, 0));
	{
		range in("outer");
		nodes[0] = add(outer, nullptr, 50);
		cudaGraph_t inner = captured("inner", 100);
		CHECK(cudaGraphAddChildGraphNode(&nodes[1], outer, &nodes[0], 1, inner));
		add(outer, nodes[1], 150);
	}
	printf("inner 100\nouter 200\n");
	return ready(outer);
}

/* A child of a child, which its graph has twice. */
static cudaGraph_t middle(cudaGraph_t inner)
{
	cudaGraph_t graph;
	cudaGraphNode_t first, second;
	CHECK(cudaGraphCreate(&graph, 0));
	range in("middle");
	CHECK(cudaGraphAddChildGraphNode(&first, graph, nullptr, 0, inner));
	second = add(graph, first, 60);
	CHECK(cudaGraphAddChildGraphNode(&first, graph, &second, 1, inner));
	return graph;
}

static cudaGraph_t deep_graph(int us)
{
	cudaGraph_t children = middle(captured("inner", us)), outer;
	cudaGraphNode_t nodes[3];
	CHECK(cudaGraphCreate(&outer, 0));
	{
		range in("outer");
		nodes[0] = add(outer, nullptr, 30);
		CHECK(cudaGraphAddChildGraphNode(&nodes[1], outer, &nodes[0], 1, children));
		CHECK(cudaGraphAddChildGraphNode(&nodes[2], outer, &nodes[1], 1, children));
	}
	return outer;
}

static cudaGraphExec_t deep()
{
	printf("inner 400\nmiddle 120\nouter 30\n");
	return ready(deep_graph(100));
}

/* The graph with the children is a copy, and what it was copied from is gone; what was ready before it is gone, too. */
static cudaGraphExec_t copied_children()
{
	cudaGraph_t graph = deep_graph(100), copy;
	cudaGraphExec_t before = ready(graph);
	CHECK(cudaGraphClone(&copy, graph));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaGraphExecDestroy(before));
	printf("inner 400\nmiddle 120\nouter 30\n");
	return ready(copy);
}

/* A graph with children that is ready becomes another one of the same shape. */
static cudaGraphExec_t updated_children()
{
	cudaGraphExec_t exec = ready(deep_graph(50));
	cudaGraphExecUpdateResultInfo info;
	CHECK(cudaGraphExecUpdate(exec, deep_graph(100), &info));
	printf("inner 400\nmiddle 120\nouter 30\n");
	return exec;
}

/* A child with copies and memsets around its kernel: two captured ranges. */
static cudaGraphExec_t copies()
{
	const size_t bytes = 64 << 20;
	char *from, *to;
	cudaGraph_t inner, outer;
	cudaGraphNode_t node;
	CHECK(cudaMalloc(&from, bytes));
	CHECK(cudaMalloc(&to, bytes));
	begin(s);
	{
		range in("copies");
		CHECK(cudaMemsetAsync(from, 1, bytes, s));
		CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, s));
	}
	{
		range in("inner");
		spin<<<1, 1, 0, s>>>(100);
	}
	inner = end(s);
	CHECK(cudaGraphCreate(&outer, 0));
	{
		range in("outer");
		CHECK(cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, inner));
		add(outer, node, 50);
	}
	printf("inner 100\nouter 50\n");
	return ready(outer);
}

#if CUDART_VERSION >= 12090
/* The child is not copied into the graph, but becomes part of it. */
static cudaGraphExec_t moved()
{
	cudaGraph_t outer;
	cudaGraphNode_t node;
	cudaGraphNodeParams params = {};
	params.type = cudaGraphNodeTypeGraph;
	params.graph.graph = captured("inner", 100);
	params.graph.ownership = cudaGraphChildGraphOwnershipMove;
	CHECK(cudaGraphCreate(&outer, 0));
	{
		range in("outer");
		CHECK(cudaGraphAddNode(&node, outer, nullptr, nullptr, 0, &params));
		add(outer, node, 50);
	}
	printf("inner 100\nouter 50\n");
	return ready(outer);
}
#endif

#if CUDART_VERSION >= 12040
__global__ void choose(cudaGraphConditionalHandle handle)
{
	cudaGraphSetConditional(handle, 1);
}

/* What runs on a condition, a graph of its own within the graph. */
static cudaGraphExec_t condition()
{
	cudaGraph_t outer, body;
	cudaGraphNode_t first, node;
	cudaGraphConditionalHandle handle;
	cudaGraphNodeParams params = {};
	CHECK(cudaGraphCreate(&outer, 0));
	CHECK(cudaGraphConditionalHandleCreate(&handle, outer, 1, cudaGraphCondAssignDefault));
	{
		range in("outer");
		first = add(outer, nullptr, 50);
		params.type = cudaGraphNodeTypeConditional;
		params.conditional.handle = handle;
		params.conditional.type = cudaGraphCondTypeIf;
		params.conditional.size = 1;
#if CUDART_VERSION >= 13000
		CHECK(cudaGraphAddNode(&node, outer, &first, nullptr, 1, &params));
#else
		CHECK(cudaGraphAddNode(&node, outer, &first, 1, &params));
#endif
	}
	body = params.conditional.phGraph_out[0];
	CHECK(cudaStreamBeginCaptureToGraph(s, body, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
	{
		range in("body");
		spin<<<1, 1, 0, s>>>(100);
		spin<<<1, 1, 0, s>>>(50);
	}
	CHECK(cudaStreamEndCapture(s, nullptr));
	printf("body 150\nouter 50\n");
	return ready(outer);
}
#endif

/* A graph that is ready becomes another one. */
static cudaGraphExec_t update()
{
	cudaGraphExec_t exec = ready(captured("old", 100));
	cudaGraphExecUpdateResultInfo info;
	CHECK(cudaGraphExecUpdate(exec, captured("new", 300), &info));
	printf("new 300\n");
	return exec;
}

/* A kernel of a graph that is ready gets other arguments: the call was captured where it was. */
static cudaGraphExec_t set()
{
	cudaGraph_t graph = captured("captured", 100);
	cudaGraphExec_t exec = ready(graph);
	cudaGraphNode_t node;
	size_t n = 1;
	int us = 300;
	void *words[] = {&us};
	cudaKernelNodeParams params = {};
	CHECK(cudaGraphGetNodes(graph, &node, &n));
	params.func = (void *)spin;
	params.gridDim = params.blockDim = dim3(1);
	params.kernelParams = words;
	CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
	printf("captured 300\n");
	return exec;
}

/* Captured by another thread, which is gone when it is launched. */
static cudaGraphExec_t thread()
{
	cudaGraph_t graph;
	std::thread other([&] { graph = captured("thread", 300); });
	other.join();
	printf("thread 300\n");
	return ready(graph);
}

/* A clone of a captured graph, which is gone. */
static cudaGraphExec_t clone()
{
	cudaGraph_t graph = captured("captured", 300), copy;
	CHECK(cudaGraphClone(&copy, graph));
	CHECK(cudaGraphDestroy(graph));
	printf("captured 300\n");
	return ready(copy);
}

#if CUDART_VERSION >= 12040
__global__ void change(cudaGraphDeviceNode_t node)
{
	int us = 300;
	cudaGraphKernelNodeSetParam(node, 0, us);
}

/* The GPU changes the arguments of a kernel that is a node of the graph. */
static cudaGraphExec_t device()
{
	cudaGraph_t graph = captured("captured", 100);
	cudaGraphNode_t node;
	size_t n = 1;
	CHECK(cudaGraphGetNodes(graph, &node, &n));
	cudaLaunchAttributeValue value = {};
	value.deviceUpdatableKernelNode.deviceUpdatable = 1;
	CHECK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeDeviceUpdatableKernelNode, &value));
	CHECK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeDeviceUpdatableKernelNode, &value));
	cudaGraphExec_t exec = ready(graph);
	CHECK(cudaGraphUpload(exec, s));
	change<<<1, 1, 0, s>>>(value.deviceUpdatableKernelNode.devNode);
	printf("captured 300\n");
	return exec;
}
#endif

static const struct {
	const char *name;
	cudaGraphExec_t (*make)();
} cases[] = {
	{"capture", by_capture},
	{"hand", by_hand},
	{"child", child},
	{"nested", nested},
	{"update", update},
	{"set", set},
	{"thread", thread},
	{"clone", clone},
	{"deep", deep},
	{"copied-children", copied_children},
	{"updated-children", updated_children},
	{"copies", copies},
#if CUDART_VERSION >= 12040
	{"device", device},
	{"condition", condition},
#endif
#if CUDART_VERSION >= 12090
	{"moved", moved},
#endif
};

int main(int n, char **words)
{
	int steps = n > 2 ? atoi(words[2]) : 50;
	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	for (auto &c : cases) {
		if (n < 2 || strcmp(c.name, words[1]) != 0)
			continue;
		cudaGraphExec_t exec = c.make();
		CHECK(cudaStreamSynchronize(s));
		for (int i = 0; i < steps; i++) {
			range in("step");
			CHECK(cudaGraphLaunch(exec, s));
			CHECK(cudaStreamSynchronize(s));
		}
		return 0;
	}
	fprintf(stderr, "usage: graph-nodes CASE [STEPS]; cases:");
	for (auto &c : cases)
		fprintf(stderr, " %s", c.name);
	fprintf(stderr, "\n");
	return 2;
}
