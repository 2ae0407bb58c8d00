-- One small run of two processes, in columns that every export since 2020 has. A layout_*.sql makes the tables.
--
-- Process 100 (threads 101, 102) and process 200 (thread 201) both number their calls from 1.
-- globalTid = 1 << 48 | pid << 24 | tid.
INSERT INTO StringIds(id, value) VALUES
	(1, 'cudaLaunchKernel_v7000'), (2, 'void scale<float>(float *, int)'), (3, 'scale'),
	(4, 'cudaMemcpyAsync_ptsz_v7000'), (5, 'cudaMemcpy_v3020'),
	(6, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)'),
	(7, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), (8, 'forward'), (9, 'training'), (10, 'pthread_cond_wait'),
	(11, 'CUPTI Buffer flush'), (12, 'dlopen(libcublas.so.13)'), (13, 'trainer'), (14, 'never used'),
	(15, 'OS runtime libraries profiling started');

INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, "end", eventClass, globalTid, correlationId, nameId, returnValue) VALUES
	(1000, 1100, 0, 281476654432357, 1, 1, 0),
	(1000, 1100, 67, 281476654432357, 1, 1, 0), -- a backtrace, not a call
	(1005, 1105, 0, 281478332154057, 1, 1, 0),
	(1200, 1300, 0, 281476654432357, 2, 4, 0),
	(1400, 2600, 0, 281476654432357, 3, 5, 0);

INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, "end", deviceId, contextId, streamId, correlationId, globalPid,
	demangledName, shortName, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory,
	dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId, graphNodeId) VALUES
	(1150, 1650, 0, 1, 7, 1, 281476654432256, 2, 3, 16, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0, 1, NULL),
	(1160, 1760, 0, 1, 13, 1, 281478332153856, 6, 7, 16, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0, 1, NULL);

INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY(start, "end", deviceId, contextId, streamId, correlationId, globalPid, bytes,
	copyKind, srcKind, dstKind) VALUES
	(1700, 1800, 0, 1, 7, 2, 281476654432256, 4096, 1, 1, 2), -- pinned to device
	(2000, 2500, 0, 1, 7, 3, 281476654432256, 8192, 2, 2, 0), -- device to pageable
	(2510, 2520, 0, 1, 7, 0, 281476654432256, 65536, 11, 7, 7); -- unified memory: nobody called it

INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET(start, "end", deviceId, contextId, streamId, correlationId, globalPid, value,
	bytes) VALUES (2700, 2710, 0, 1, 7, 99, 281476654432256, 0, 512); -- its call is not in the profile

INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, "end", deviceId, contextId, streamId, correlationId, globalPid,
	syncType, eventId) VALUES (1500, 2550, 0, 1, 7, 3, 281476654432256, 3, 0);

INSERT INTO NVTX_EVENTS(start, "end", eventType, text, globalTid, textId, domainId) VALUES
	(-50, NULL, 75, NULL, 281476654432357, 9, 1), -- domain 1 of process 100 is "training"
	(-40, NULL, 75, 'communication', 281478332154057, NULL, 1), -- domain 1 of process 200 is another
	(900, 2800, 59, 'step_0', 281476654432357, NULL, 0),
	(950, 1350, 59, NULL, 281476654432357, 8, 1),
	(1001, 1500, 60, 'all_reduce', 281478332154057, NULL, 1),
	(2750, NULL, 59, 'step_1', 281476654432357, NULL, 0), -- open when the capture stopped
	(3000, 3000, 34, 'mark', 281476654432357, NULL, 0), -- not a range
	(10, NULL, 39, 'main loop', 281476654432357, NULL, 0); -- names the thread

INSERT INTO OSRT_API(start, "end", eventClass, globalTid, nameId, returnValue, nestingLevel, callchainId) VALUES
	(500, 501, 31, 281476654432358, 15, 0, NULL, 0), -- a note of the tracer
	(600, 2900, 27, 281476654432358, 10, 0, 0, 0);

INSERT INTO ThreadNames(nameId, priority, globalTid) VALUES
	(14, 20, 281476654432357), (13, 20, 281476654432358), (14, 20, 281474976710657);
