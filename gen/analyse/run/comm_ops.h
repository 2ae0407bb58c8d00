/* The communication kernels of a run: what each is, which of several ranks' belong together, when the last rank came.
 */
#ifndef GAPLINE_ANALYSE_RUN_COMM_OPS_H
#define GAPLINE_ANALYSE_RUN_COMM_OPS_H

#include "analyse/run/collectives.h"
#include "analyse/run/run.h"

enum comm_kind {
	COMM_TOGETHER, /* collectives in which it is known who waits for whom */
	COMM_POINT,    /* sends and receives with known partners */
	COMM_OTHER     /* broadcast and reduce whose root is not known, and what cannot be told */
};

/* Kernels that are alike: of one operation in one communicator; where NCCL's payloads are not recorded, of one name. */
struct comm_row {
	enum comm_kind kind;
	uint32_t name;  /* "ncclAllReduce", else the kernel's */
	int64_t comm;   /* 0: not known */
	uint32_t ranks; /* of the communicator, as it says itself; 0: it does not */
	/* Of what lies in the window, ns, all ranks and kernels added up: */
	uint32_t devices;          /* of the run that have any of these kernels */
	uint32_t kernels, matched; /* kernels; of them with known partners */
	uint32_t collectives;      /* of matched kernels */
	double waiting, moving;    /* of matched kernels: until the last rank had come, from then on */
	double hidden, exposed;    /* beside a computing kernel, or not */
	double bytes;              /* of matched collectives whose bytes are all known, or of transfers … */
	double span;               /* … and from their last coming to their last leaving */
	uint32_t known;            /* how many these are */
	uint32_t took_part;        /* most ranks that a matched one had */
	uint32_t *last;            /* by device of the run: in how many it came last; NULL: none is matched */
};

struct comm_ops {
	struct collective_op *ops; /* by (rank, start); `rank` is an index into run.devices, `key` one into rows */
	size_t n;
	size_t *first_of; /* by rank, and one more: where its ops begin */
	struct comm_row *rows;
	uint32_t n_rows;
	struct collectives collectives;
};

/* `tolerance`: struct waiting. Kernels whose NCCL calls are recorded are told apart by their communicators; names alone
 * serve the others, and where one name is of several communicators, the streams that they run on. Nothing is matched
 * where it is not known which step of one rank is which of another, and of what only some ranks recorded nothing is.
 * The rows live in `arena`, the kernels and what they are together in `ops`. */
void comm_ops_match(const struct run *run, int64_t tolerance, struct arena *arena, struct arena *ops,
                    struct comm_ops *out);

#endif
