/* What samples of a program's threads say: a part of struct trace (trace.h). */
#ifndef GAPLINE_TRACE_SAMPLED_H
#define GAPLINE_TRACE_SAMPLED_H

#include <stddef.h>
#include <stdint.h>

/* What a frame of a sampled stack is. */
enum frame_kind {
	FRAME_NAMED,   /* a function */
	FRAME_MODULE,  /* code of a module for which there are no symbols; several such frames in a row are one */
	FRAME_UNKNOWN, /* neither function nor module is known */
	FRAME_BROKEN,  /* what called the rest could not be found: the stack begins here, not where its thread began */
	FRAME_CUT      /* likewise, because the stack is deeper than what was recorded of it */
};

/* A function that was sampled; there may be several with the same name and module. */
struct trace_function {
	uint32_t name;   /* of FRAME_NAMED, else 0 */
	uint32_t module; /* base name of the file that it is of: "libc.so.6"; 0: not known */
	uint32_t at;     /* "train.py(12): step", where it begins; 0: not known */
	uint8_t kind;    /* enum frame_kind */
};

/* A function as it was called: from that of its parent. Parents stand before their children; frame 0 is the root, which
 * is no function and its own parent. */
struct trace_frame {
	uint32_t parent, function; /* indices */
};

/* All different stacks of all samples, as one tree. */
struct trace_stacks {
	struct trace_function *functions;
	uint32_t n_functions;
	struct trace_frame *frames;
	uint32_t n_frames; /* 0: there are no samples */
	int64_t cut; /* samples of which inner frames are missing, because the tree would be too large: STACKS_MOST */
};
enum { STACKS_MOST = 1 << 20 };

/* Instants at which a thread's stack was looked at, sorted by (thread, time). Only threads that have other rows too are
 * here. */
struct trace_samples {
	size_t n;
	int64_t *time;
	uint32_t *thread;
	uint32_t *stack; /* its innermost frame; 0: the stack is not in the profile */
};

/* Stretches of time in which a thread waited for CPython's global interpreter lock, sorted by (thread, start); those of
 * a thread do not overlap. Two samples of the thread, one after the other, have to say so, and not be far apart
 * (samples.h); each stands for half the way to its neighbours, the first and the last of several up to a CUDA call of
 * the thread that lies in between. */
struct trace_gil {
	size_t n;
	int64_t *start, *end;
	uint32_t *thread;
	uint32_t *holder; /* thread that held it; `thread` itself where that is not known */
	uint32_t *stack;  /* the innermost frame of what the holder did; 0: not known */
};

/* Stretches of time in which nobody looked whether a thread that calls CUDA waited for that lock, and nothing else
 * tells, sorted by (thread, start); those of a thread do not overlap. None where nobody ever looked:
 * trace_source.has_lock. */
struct trace_unlooked {
	size_t n;
	int64_t *start, *end;
	uint32_t *thread;
};

#endif
