#include "read/scrub_parts.h"

#include "base/words.h"

#include <stdint.h>
#include <string.h>

/* Options and variables whose values say what a run does, without dashes and as if with hyphens. Any other may take a
 * password. */
static const char harmless[] =
	"n np ntasks N nodes nproc nproc-per-node gpus num-gpus num-processes j jobs c cpus threads num-threads "
	"workers num-workers prefetch prefetch-factor steps num-steps max-steps iters iterations num-iters epochs "
	"warmup repeat runs b batch batch-size micro-batch-size size seq-len seq-length seed lr precision dtype device "
	"backend mode model config variant optimizer compile attention C chdir m in i input data dataset o output "
	"streams num-streams chunk chunk-size kernel impl version level OMP-NUM-THREADS CUDA-VISIBLE-DEVICES "
	"CUDA-LAUNCH-BLOCKING CUDA-MODULE-LOADING PYTORCH-CUDA-ALLOC-CONF NCCL-ALGO NCCL-PROTO MKL-NUM-THREADS "
	"TORCH-COMPILE-DISABLE CUDA-DEVICE-MAX-CONNECTIONS";

enum { NAME_MOST = 64 };

static bool is_harmless(const char *option)
{
	char name[NAME_MOST];
	size_t n = 0;
	for (option += strspn(option, "-+"); n < NAME_MOST && option[n]; n++)
		name[n] = option[n] == '_' ? '-' : option[n];
	return words_have(harmless, name, n, strncmp);
}

/* Too short for a secret: a number that switches something on or counts a few. */
static bool is_small_number(const char *value)
{
	return *value && strlen(value) <= 3 && strspn(value, "-.0123456789") == strlen(value);
}

bool scrub_command_may_show(const char *option, const char *value)
{
	return is_harmless(option) || is_small_number(value);
}

bool scrub_command_has_value(const char *option)
{
	return option[0] == '-' && option[1] != '-' && strlen(option) > 3 && strpbrk(option, "0123456789");
}

bool scrub_command_is_option(const char *word)
{
	return word[0] == '-' && word[1] && !strchr("0123456789.", word[1]);
}

size_t scrub_command_secret(const char *word, const char *before)
{
	const char *equal = strchr(word, '=');
	size_t n = equal ? (size_t)(equal - word) : 0;
	if (n && n < NAME_MOST && !memchr(word, '/', n)) {
		char name[NAME_MOST];
		memcpy(name, word, n);
		name[n] = '\0';
		return scrub_command_may_show(name, equal + 1) ? SIZE_MAX : n + 1;
	}
	if (scrub_command_is_option(word))
		return scrub_command_has_value(word) ? 2 : SIZE_MAX;
	bool of_option =
		scrub_command_is_option(before) && !strchr(before, '=') && !scrub_command_may_show(before, word);
	return of_option || !strcmp(before, "-c") ? 0 : SIZE_MAX;
}
