/* Taking NVTX's functions in one's own hands. nvtx3/nvToolsExt.h comes before this. */
#ifndef GAPLINE_INJECT_NVTX_TABLE_H
#define GAPLINE_INJECT_NVTX_TABLE_H

#include <stddef.h>

struct nvtx_row {
	unsigned id;
	NvtxFunctionPointer function;
};

/* One of its functions: what it is called, returns, takes, and does. */
#define NVTX_ON(id, type, parameters, ...)                                                                             \
	static type NVTX_API on_##id parameters                                                                        \
	{                                                                                                              \
		__VA_ARGS__;                                                                                           \
	}

/* … and its row. */
#define NVTX_ROW(id)                                                                                                   \
	{                                                                                                              \
		NVTX_CBID_##id, (NvtxFunctionPointer)(on_##id)                                                         \
	}

/* Puts n functions into the table of a module. 1, or 0 where this NVTX has no such table; functions that it has no
 * place for are left out. */
static inline int nvtx_fill(const NvtxExportTableCallbacks *callbacks, NvtxCallbackModule module,
                            const struct nvtx_row *rows, size_t n)
{
	NvtxFunctionTable table = NULL;
	unsigned size = 0;
	if (!callbacks->GetModuleFunctionTable(module, &table, &size) || !table)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (rows[i].id < size && table[rows[i].id])
			*table[rows[i].id] = rows[i].function;
	return 1;
}

/* Takes NVTX's own functions and those of domains over, from the table that a copy of it hands over at its first call.
 * 1, or 0 where it has none of them: it is to let go of the library then. */
static inline int nvtx_take(const void *(*get_table)(unsigned table), const struct nvtx_row *core, size_t n_core,
                            const struct nvtx_row *domains, size_t n_domains)
{
	const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
	if (!callbacks || callbacks->struct_size < sizeof *callbacks)
		return 0;
	const NvtxExportTableVersionInfo *version = get_table(NVTX_ETID_VERSIONINFO);
	if (version && version->struct_size >= sizeof *version && version->SetInjectionNvtxVersion)
		version->SetInjectionNvtxVersion(NVTX_VERSION);
	if (!nvtx_fill(callbacks, NVTX_CB_MODULE_CORE, core, n_core))
		return 0;
	nvtx_fill(callbacks, NVTX_CB_MODULE_CORE2, domains, n_domains); /* absent before NVTX 2.1 */
	return 1;
}

#endif
