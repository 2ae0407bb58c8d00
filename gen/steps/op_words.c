#include "steps/op_names.h"

#include <string.h>

/* What lies before this space is a return type, which may be a template, too. */
static bool ends_type(const char *s, bool template_before)
{
	return *s == ' ' && (!template_before || strpbrk(s, "(<"));
}

size_t op_words_short(const char **text)
{
	const char *s = *text;
	if (*s == '[') /* copies, memsets and graphs */
		return strlen(s);
	size_t depth = 0, begin = 0, end = 0,
	       i = 0; /* `end`: where its template arguments begin; 0: it has none so far */
	for (; s[i]; i++) {
		if (s[i] == '<') {
			if (depth++ == 0 && !end && i > begin && s[i - 1] != ' ')
				end = i;
		} else if (s[i] == '>') {
			depth -= depth > 0;
		} else if (depth == 0 && s[i] == '(') {
			if (strncmp(s + i, "(anonymous namespace)", 21) != 0)
				break;
			i += 20;
		} else if (depth == 0 && ends_type(s + i, end)) {
			begin = i + 1;
			end = 0;
		} else if (depth == 0 && !end && s[i] == ':' && s[i + 1] == ':') {
			begin = i++ + 2;
		}
	}
	i = end ? end : i;
	if (i <= begin)
		return strlen(s);
	*text = s + begin;
	return i - begin;
}

/* Words that kernels' names say themselves. Only such as mean one thing wherever they stand: a kernel is never called
 * what it is not, and one that says none of them keeps its own name. The first that is found counts. */
static const struct {
	const char *word, *family;
} FAMILIES[] = {
	{"multi_tensor_apply", "multi-tensor kernels"},
	{"flash_attn", "attention kernels"},
	{"flashattn", "attention kernels"},
	{"flash_fwd", "attention kernels"},
	{"flash_bwd", "attention kernels"},
	{"flash::", "attention kernels"},
	{"fmha", "attention kernels"},
	{"sdpa", "attention kernels"},
	{"attention", "attention kernels"},
	{"convolve", "convolution kernels"},
	{"conv2d", "convolution kernels"},
	{"conv3d", "convolution kernels"},
	{"conv_depthwise", "convolution kernels"},
	{"implicit_gemm", "convolution kernels"}, /* fprop, dgrad and wgrad are words of attention kernels, too */
	{"winograd", "convolution kernels"},
	{"softmax", "softmax kernels"},
	{"layer_norm", "normalisation kernels"},
	{"layernorm", "normalisation kernels"},
	{"rms_norm", "normalisation kernels"},
	{"rmsnorm", "normalisation kernels"},
	{"batch_norm", "normalisation kernels"},
	{"batchnorm", "normalisation kernels"},
	{"group_norm", "normalisation kernels"},
	{"groupnorm", "normalisation kernels"},
	{"bn_fw_", "normalisation kernels"},
	{"bn_bw_", "normalisation kernels"},
	{"gemm", "gemm kernels"},
	{"nvjet_", "gemm kernels"}, /* cuBLAS's from version 13 on */
	{"gemv", "gemv kernels"},
	{"triton_poi_", "Triton pointwise kernels"},
	{"triton_red_", "Triton reduction kernels"},
	{"triton_per_", "Triton reduction kernels"},
	{"elementwise", "elementwise kernels"},
	{"reduce", "reduction kernels"},
	{"_fusion", "fusion kernels"},
};

static const char *family_of(const char *text, size_t length, struct arena *arena)
{
	const char *name = arena_format(arena, "%.*s", (int)length, text);
	for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES; i++)
		if (strcasestr(name, FAMILIES[i].word))
			return FAMILIES[i].family;
	return NULL;
}

const char *op_words_kernel(const char *name, struct arena *arena)
{
	enum { LONGEST = 60 };
	/* what only wraps an algorithm says nothing: CUTLASS's kernels have theirs in the template */
	static const char *const WRAPPERS[] = {"Kernel", "Kernel2", "device_kernel"};
	const char *text = name;
	size_t length = op_words_short(&text);
	const char *family = family_of(text, length, arena);
	for (size_t i = 0; i < sizeof WRAPPERS / sizeof *WRAPPERS && !family; i++)
		if (strlen(WRAPPERS[i]) == length && strncmp(text, WRAPPERS[i], length) == 0)
			family = family_of(name, strlen(name), arena);
	if (family)
		return family;
	/* compilers number what they make: add_12 */
	size_t digits = length;
	while (digits && text[digits - 1] >= '0' && text[digits - 1] <= '9')
		digits--;
	if (!strchr(name, '(') && digits < length && digits > 1 && text[digits - 1] == '_')
		return arena_format(arena, "%.*s#", (int)(digits < LONGEST ? digits : LONGEST), text);
	return arena_format(arena, "%.*s", (int)(length < LONGEST ? length : LONGEST), text);
}

const char *op_words_kind(const struct trace *t, size_t i, struct arena *arena)
{
	switch ((enum op_kind)t->ops.kind[i]) {
	case OP_COMM:
		return "communication kernels";
	case OP_GRAPH:
		return "CUDA graphs";
	case OP_MEMSET:
		return "memsets";
	case OP_COPY:
		break;
	case OP_KERNEL:
		return op_words_kernel(names_text(t->names, t->ops.name[i]), arena);
	}
	if (t->ops.flags[i] & OPF_MANAGED)
		return "unified-memory migrations";
	switch ((enum copy_kind)t->ops.copy[i]) {
	case COPY_H2D:
	case COPY_H2A:
		return "copies to the device";
	case COPY_D2H:
	case COPY_A2H:
		return "copies to the host";
	case COPY_D2D:
	case COPY_A2A:
	case COPY_A2D:
	case COPY_D2A:
		return "copies on the device";
	case COPY_P2P:
		return "copies between devices";
	default:
		return "copies";
	}
}
