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

/* Kernels are not held: they are made again, device by device, when it is decided what belongs together. */
struct comm_ops {
	struct comm_row *rows; /* in the arena */
	uint32_t n_rows;
	struct collectives collectives; /* `key` is an index into rows */
	struct comm_view *view;         /* what is needed to make kernels again */
};

/* `tolerance`: struct waiting. Kernels whose NCCL calls are recorded are told apart by their communicators; names alone
 * serve the others, and where one name is of several communicators, the streams that they run on. Nothing is matched
 * where it is not known which step of one rank is which of another, and of what only some ranks recorded nothing is.
 * Everything but rows is there until comm_ops_release. */
void comm_ops_match(const struct run *run, int64_t tolerance, struct arena *arena, struct comm_ops *out);

/* The kernels of device `d`, an index into run.devices, by start, n of them; until they are asked for again. Devices
 * are asked for in order, each once. `rank` is the device, `key` an index into rows. What the collectives say that
 * others are told (collectives_tell) is complete when all have been. */
const struct collective_op *comm_ops_of(struct comm_ops *ops, uint32_t d, size_t *n);

void comm_ops_release(struct comm_ops *ops);

#endif
