#include "steps/marks.h"

#include "base/words.h"
#include "trace/classify.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { WORD = 16 }; /* bytes of a word that are looked at, with the 0 */

/* Domains that libraries and readers of traces put ranges into, by how they begin; case does not matter. */
static const char *const libraries[] = {"NCCL",
                                        "CCCL",
                                        "CUB",
                                        "Thrust",
                                        "cuBLAS",
                                        "cuDNN",
                                        "cuSPARSE",
                                        "cuSOLVER",
                                        "cuFFT",
                                        "libcudf",
                                        "NVSHMEM",
                                        "UCX",
                                        "PyTorch operators",
                                        "Python functions",
                                        "MPI",
                                        "OpenACC",
                                        "RAFT",
                                        "Legion",
                                        "DALI",
                                        "cuQuantum"};

/* How operators of PyTorch, of its libraries and of XLA begin, and what XLA does to compile a program. */
static const char *const operators[] = {
	"aten::", "autograd::", "c10d::",  "nccl:",      "torch::",   "torchvision::", "prim::",      "cudnn::",
	"xla::",  "<built-in ", "Thunk:#", "XlaCompile", "XlaCreate", "XlaEmit",       "XlaOptimize", "XlaPass"};

static const char containers[] =
	"epoch epochs fold trial trials run main fit train training bench benchmark experiment loop";
static const char steps[] = "step iter iteration";
static const char parts[] = "optimizer optim opt adam adamw sgd scheduler sched scaler ema micro sub inner";
static const char units[] = "batch microbatch minibatch request token";

static bool begins_with_one(const char *text, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncasecmp(text, list[i], strlen(list[i])) == 0)
			return true;
	return false;
}
#define BEGINS(text, list) begins_with_one(text, list, sizeof(list) / sizeof *(list))

static bool is_one(const char *word, const char *list)
{
	return words_have(list, word, strlen(word), strncmp);
}

/* The next word of a name, in lower case: letters up to what is none, or up to a capital behind a small one. Empty at
 * the name's end. */
static const char *next_word(const char *name, char word[WORD])
{
	size_t n = 0;
	while (*name && !isalpha((unsigned char)*name))
		name++;
	for (const char *from = name; isalpha((unsigned char)*name); name++) {
		if (name > from && isupper((unsigned char)name[0]) && islower((unsigned char)name[-1]))
			break;
		if (n + 1 < WORD)
			word[n++] = (char)tolower((unsigned char)*name);
	}
	word[n] = 0;
	return name;
}

/* "train.py(12): step": PyTorch's profiler writes Python's frames so. */
static bool is_frame(const char *name)
{
	const char *at = strstr(name, ".py(");
	return at && strstr(at, "): ");
}

static bool is_autograd(const char *name)
{
	const char *at = strstr(name, "Backward");
	return strstr(name, "AccumulateGrad") || (at && isdigit((unsigned char)at[strlen("Backward")]));
}

bool marks_name_counts(const char *name)
{
	char word[WORD];
	bool counts = false, part = false;
	for (const char *rest = next_word(name, word); *word; rest = next_word(rest, word)) {
		part = part || is_one(word, parts) || strcmp(word, "microbatch") == 0;
		counts = is_one(word, steps) || is_one(word, units);
	}
	return counts && !part;
}

enum mark_name marks_name_class(const char *name, const char *domain)
{
	char word[WORD];
	bool step = false, part = false, container = false, unit = false;
	if (strncmp(name, "ProfilerStep", strlen("ProfilerStep")) == 0)
		return MARK_PROFILER;
	if (BEGINS(domain, libraries) || BEGINS(name, operators) || is_frame(name) || is_autograd(name))
		return MARK_NEVER;
	/* what follows a '=' is a value that a library wrote: "XlaCompile:#module=jit_step#" */
	for (const char *rest = next_word(name, word), *value = strchr(name, '='); *word && (!value || rest <= value);
	     rest = next_word(rest, word)) {
		step = step || is_one(word, steps);
		part = part || is_one(word, parts);
		unit = unit || is_one(word, units);
		container = container || is_one(word, containers);
	}
	if (step && !part)
		return MARK_STEP;
	return container && !step && !unit ? MARK_CONTAINER : MARK_PLAIN;
}

enum step_origin marks_origin(const char *name, const char *domain)
{
	if (strcmp(name, STEP_ADDED) == 0)
		return STEPS_BY_OPTIMIZER;
	const enum mark_name class = marks_name_class(name, domain);
	return class == MARK_STEP || class == MARK_PROFILER ? STEPS_BY_MARK : STEPS_BY_RANGE;
}
