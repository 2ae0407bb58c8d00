/* For how much of the GPU's time something is known of operators and modules. */
#include "render/pictures.h"
#include "render/sections.h"
#include "say/say.h"

#include <math.h>

void known_modules_fill(const struct analysis *a, struct page *page)
{
	const struct side *before = &a->side[0], *after = &a->side[1];
	const bool pair = a->n_sides > 1;
	page_fill(&page->top, "modules.known",
	          SAY(NULL, page->arena, modules_known, .before = before->modules_share,
	              .after = pair ? after->modules_share : NAN,
	              .forward = before->modules_by_ranges || (pair && after->modules_by_ranges)));
}

void known_operators_fill(const struct analysis *a, struct page *page)
{
	const struct side *before = &a->side[0], *after = &a->side[1];
	const bool pair = a->n_sides > 1, rates = before->flops_share + before->moved_share > 0 ||
	                                          (pair && after->flops_share + after->moved_share > 0);
	page_fill(&page->top, "operators.flops",
	          rates ? SAY(NULL, page->arena, flops_known, .before = before->flops_share,
	                      .after = pair ? after->flops_share : NAN,
	                      .peak_before = before->peak_share > 0 ? before->peak_share : NAN,
	                      .mfu_before = before->mfu,
	                      .peak_after = pair && after->peak_share > 0 ? after->peak_share : NAN,
	                      .mfu_after = after->mfu, .moved_before = before->moved_share,
	                      .moved_after = pair ? after->moved_share : NAN)
	                : "");
	if (!rates)
		page_attribute(&page->top, "operators", "class", "part without-rates");
	page_if(&page->top, "operators.roof",
	        roofline_of_operators(a, page->arena, page_draw(&page->top, "operators.roofline")));
}
