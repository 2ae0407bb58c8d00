#include "render/perfetto_track.h"

#include "base/list.h"

static bool fits(struct track_row *row, bool nested, int64_t start, int64_t end)
{
	while (row->n && row->end[row->n - 1] <= start)
		row->n--;
	return !row->n || (nested && end <= row->end[row->n - 1]);
}

uint32_t perfetto_track_add(struct perfetto_track *track, int64_t start, int64_t end)
{
	uint32_t i = 0;
	while (i < track->n && !fits(&track->rows[i], track->nested, start, end))
		i++;
	if (i == TRACK_ROWS)
		return i;
	track->n = i < track->n ? track->n : i + 1;
	struct track_row *row = &track->rows[i];
	LIST_GROW(track->arena, row->end, row->n, row->room);
	row->end[row->n++] = end;
	return i;
}
