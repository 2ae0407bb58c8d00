#include "reaction_host.h"

#include "random.h"

#include <string.h>

void reaction_draw(float *u, float *v, int edge, uint64_t seed)
{
	enum { DROPS = 200 };
	uint64_t state = random_mix(seed, 0);
	const int radius = edge / 64 + 2;

	for (int i = 0; i < edge * edge; i++) {
		u[i] = 1;
		v[i] = 0;
	}
	for (int d = 0; d < DROPS; d++) {
		int x = (int)(random_next(&state) % (uint64_t)edge), y = (int)(random_next(&state) % (uint64_t)edge);

		for (int dy = -radius; dy <= radius; dy++) {
			for (int dx = -radius; dx <= radius; dx++) {
				int i = (y + dy + edge) % edge * edge + (x + dx + edge) % edge;

				u[i] = 0.5f + 0.02f * (random_float(&state) - 0.5f);
				v[i] = 0.25f + 0.02f * (random_float(&state) - 0.5f);
			}
		}
	}
}

void reaction_react(double *u, double *v, int substeps)
{
	const double dt = 1.0 / REACTION_SUBSTEPS;

	for (int i = 0; i < substeps; i++) {
		double uvv = *u * *v * *v;

		*u += dt * (REACTION_FEED * (1 - *u) - uvv);
		*v += dt * (uvv - (REACTION_FEED + REACTION_KILL) * *v);
	}
}

static double diffused(const double *field, int edge, int x, int y, double rate)
{
	double centre = field[y * edge + x];
	double sum = field[y * edge + (x + 1) % edge] + field[y * edge + (x + edge - 1) % edge] +
	             field[(y + 1) % edge * edge + x] + field[(y + edge - 1) % edge * edge + x];

	return centre + rate * (sum - 4 * centre);
}

void reaction_reference(double *u, double *v, int edge, double *scratch_u, double *scratch_v)
{
	const size_t bytes = (size_t)edge * (size_t)edge * sizeof(*u);

	memcpy(scratch_u, u, bytes);
	memcpy(scratch_v, v, bytes);
	for (int y = 0; y < edge; y++) {
		for (int x = 0; x < edge; x++) {
			double *to_u = &u[y * edge + x], *to_v = &v[y * edge + x];

			*to_u = diffused(scratch_u, edge, x, y, REACTION_DIFFUSION_U);
			*to_v = diffused(scratch_v, edge, x, y, REACTION_DIFFUSION_V);
			reaction_react(to_u, to_v, REACTION_SUBSTEPS);
		}
	}
}
