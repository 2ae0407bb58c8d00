/* The pictures of ranks and steps: own steps, and small ones of each part of them. */
#ifndef GAPLINE_RENDER_RANK_MAPS_H
#define GAPLINE_RENDER_RANK_MAPS_H

#include "render/pictures.h"

/* Nothing where there is no map. */
void rank_maps_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

/* The parts beside each other, on scales of their own that both sides share. */
void rank_parts_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);
bool rank_parts_any(const struct analysis *analysis);

/* The map of the first part that has one; NULL: none has. */
const struct rank_map *rank_parts_first(const struct ranks_result *ranks);

#endif
