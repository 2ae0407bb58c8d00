/* Files of templates/, assets/ and examples/ as they were when gapline was built (tools/embed.cmake). */
#ifndef GAPLINE_RENDER_ASSETS_H
#define GAPLINE_RENDER_ASSETS_H

#include <stddef.h>

struct asset {
	const char *bytes; /* NUL-terminated, the NUL not counted */
	size_t n;
	const char *sha256; /* base64, as in a content security policy */
};

extern const struct asset asset_report_html;   /* templates/report.html */
extern const struct asset asset_trend_html;    /* templates/trend.html */
extern const struct asset asset_variants_html; /* templates/variants.html */
extern const struct asset asset_report_css;    /* assets/ *.css, one after the other (tools/bundle.cmake) */
extern const struct asset asset_report_js;     /* assets/ *.js, the same, but one: */
extern const struct asset asset_early_js;      /* assets/early.js, which runs before the rest is read */

/* examples/training-step as `gapline digest` wrote it: what `gapline demo` compares. */
extern const struct asset asset_baseline_digest, asset_fixed_digest;

#endif
