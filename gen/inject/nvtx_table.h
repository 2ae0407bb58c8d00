/* Taking NVTX's functions in one's own hands. nvtx3/nvToolsExt.h comes before this. */
#ifndef GAPLINE_INJECT_NVTX_TABLE_H
#define GAPLINE_INJECT_NVTX_TABLE_H

#include <stddef.h>

struct nvtx_row {
	unsigned id;
	NvtxFunctionPointer function;
};

#define NVTX_ROW(id, function)                                                                                         \
	{                                                                                                              \
		NVTX_CBID_##id, (NvtxFunctionPointer)(function)                                                        \
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

#endif
