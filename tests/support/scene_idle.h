/* Expected splits of idle time, worked out by hand; the brute-force model (oracle.h) has to give the same answers as
 * the analysis, so that the model itself is checked by hand where it matters. */
#ifndef GAPLINE_TESTS_SCENE_IDLE_H
#define GAPLINE_TESTS_SCENE_IDLE_H

#include "oracle.h"
#include "scene.h"

struct want {
	enum cause cause;
	const char *phase; /* NULL: none */
	int64_t ns;        /* in the whole window */
	const char *call;  /* host_blocked: the call that is named */
};

/* Analyses the scene both ways; fails the test unless a device's idle time is exactly these rows. Returns the model. */
const struct oracle *scene_idle_expect(struct scene *s, uint32_t device, const struct want *wants, size_t n);

/* The model of the scene's trace, in its arena. */
const struct oracle *scene_model(struct scene *s);

/* Steps in the window; 1 without steps. */
int64_t scene_steps(const struct oracle *model);

#define EXPECT(s, device, ...)                                                                                         \
	scene_idle_expect((s), (device), (const struct want[]){__VA_ARGS__},                                           \
	                  sizeof((const struct want[]){__VA_ARGS__}) / sizeof(struct want))

#endif
