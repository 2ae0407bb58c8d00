-- Two processes whose correlation ids are the same, every kind of row that a table of `gapline stats` is about, and
-- numbers that can be summed up by hand. layout_2025.sql makes the tables.
--
-- globalTid = 1 << 48 | pid << 24 | tid; process 100 has threads 101 and 102, process 200 thread 201.
DELETE FROM PROFILER_OVERHEAD;
INSERT INTO StringIds(id, value) VALUES
	(1, 'cudaLaunchKernel_v7000'), (2, 'void scale<float, 4>(float *, int)'), (3, 'scale'), (4, '_Z5scaleIfLi4EEvPfi'),
	(5, 'add(double *)'), (6, 'add'), (7, 'cudaMemcpyAsync_ptsz_v7000'), (8, 'cudaMemcpy_v3020'),
	(9, 'void scale<double, 2>(double *, int)'), (10, 'cudaMemset_v3020'), (11, 'cudaLaunchKernelExC_v11060'),
	(12, 'cudaStreamSynchronize_v3020'), (13, 'say "hi"'), (14, 'training'), (15, 'poll'),
	(16, 'CUDA profiling overhead'), (17, 'OS runtime libraries profiling started'), (18, 'CUPTI Buffer flush');

INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, "end", eventClass, globalTid, correlationId, nameId, returnValue) VALUES
	(1000, 1100, 0, 281476654432357, 1, 1, 0),
	(1600, 1700, 0, 281476654432357, 2, 1, 0),
	(1800, 1900, 0, 281476654432357, 3, 11, 0),
	(2000, 2100, 0, 281476654432357, 4, 7, 0),
	(2200, 2900, 0, 281476654432357, 5, 8, 0),
	(3000, 3100, 0, 281476654432357, 6, 8, 0),
	(3200, 3300, 0, 281476654432357, 7, 8, 0),
	(3400, 3500, 0, 281476654432357, 8, 8, 0),
	(3600, 3700, 0, 281476654432357, 9, 10, 0),
	(3800, 3900, 0, 281476654432357, 10, 10, 0),
	(4000, 5000, 0, 281476654432357, 11, 12, 0),
	(1000, 1010, 0, 281478332154057, 1, 1, 0),
	(2000, 2020, 0, 281478332154057, 4, 7, 0);

INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, "end", deviceId, contextId, streamId, correlationId, globalPid,
	demangledName, shortName, mangledName, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ,
	staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId) VALUES
	(1200, 1500, 0, 1, 7, 1, 281476654432256, 2, 3, 4, 16, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0, 1),
	(1650, 1750, 0, 1, 7, 2, 281476654432256, 2, 3, 4, 16, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0, 2), -- starts within its call
	(1850, 1851, 0, 1, 7, 3, 281476654432256, 5, 6, NULL, 16, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0, 3), -- likewise
	(6003905, 6003906, 0, 1, 7, 0, 281476654432256, 5, 6, NULL, 16, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0, 4), -- no call
	(1020, 1320, 0, 1, 7, 1, 281478332153856, 9, 3, NULL, 16, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0, 1);

INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY(start, "end", deviceId, contextId, greenContextId, streamId, correlationId,
	globalPid, bytes, copyKind, srcKind, dstKind) VALUES
	(2100, 2300, 0, 1, 0, 7, 4, 281476654432256, 62501, 1, 0, 2), -- pageable to device
	(2400, 2800, 0, 1, 5, 7, 5, 281476654432256, 4500, 2, 2, 1), -- device to pinned, in a green context
	(3100, 3200, 0, 1, 0, 7, 6, 281476654432256, 1000000, 8, 2, 2), -- within the device
	(3300, 3340, 0, 1, 0, 7, 7, 281476654432256, 65536, 1, 0, 2), -- 64 KB
	(3500, 3560, 0, 1, 0, 7, 8, 281476654432256, 65537, 1, 0, 2), -- and a byte
	(2030, 2040, 0, 1, 0, 7, 4, 281478332153856, 500, 1, 1, 2); -- pinned to device

INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET(start, "end", deviceId, contextId, streamId, correlationId, globalPid, value,
	bytes, memKind) VALUES
	(3700, 3710, 0, 1, 7, 9, 281476654432256, 0, 512, 1), -- pinned
	(3900, 3905, 0, 1, 7, 10, 281476654432256, 0, 1024, 2);

INSERT INTO NVTX_EVENTS(start, "end", eventType, text, globalTid, endGlobalTid, textId, domainId) VALUES
	(-50, NULL, 75, NULL, 281476654432357, NULL, 14, 1), -- domain 1 of process 100
	(900, 5200, 59, 'step', 281476654432357, NULL, NULL, 0),
	(940, 4600, 60, 'moved', 281476654432357, 281476654432358, NULL, 0), -- ends on thread 102
	(950, 4500, 60, 'job', 281476654432357, NULL, NULL, 0),
	(990, 1750, 59, 'launch', 281476654432357, NULL, NULL, 0),
	(1950, 2150, 59, NULL, 281476654432357, NULL, 13, 1),
	(5100, 5150, 59, 'empty', 281476654432357, NULL, NULL, 0),
	(5160, NULL, 59, 'tail', 281476654432357, NULL, NULL, 0), -- open when the capture stopped
	(5260, NULL, 34, 'mark', 281476654432357, NULL, NULL, 0),
	(990, 2500, 59, 'step', 281478332154057, NULL, NULL, 0);

INSERT INTO OSRT_API(start, "end", eventClass, globalTid, nameId, returnValue, nestingLevel, callchainId) VALUES
	(500, 501, 31, 281476654432358, 17, 0, NULL, 0), -- a note of the tracer
	(600, 610, 27, 281476654432358, 15, 0, 0, 0),
	(700, 715, 27, 281476654432358, 15, 0, 0, 0);

INSERT INTO PROFILER_OVERHEAD(start, "end", globalTid, nameId, returnValue) VALUES
	(500, 900, 281476654432358, 16, 0), -- before any GPU work
	(2003905, 2503905, 281476654432358, 16, 0),
	(4003905, 4503905, 281476654432358, 18, 0); -- of another kind
