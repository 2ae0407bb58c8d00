/* The module: sums a part of a field, always in the same order. */
enum { THREADS = 256, PART = 4096 };

extern "C" __global__ void probe(const float *field, int part, float *sum)
{
	__shared__ float sums[THREADS];
	float own = 0;

	for (int i = threadIdx.x; i < PART; i += THREADS)
		own += field[part * PART + i];
	sums[threadIdx.x] = own;
	__syncthreads();
	for (int i = THREADS / 2; i > 0; i /= 2) {
		if (threadIdx.x < i)
			sums[threadIdx.x] += sums[threadIdx.x + i];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		*sum = sums[0];
}
