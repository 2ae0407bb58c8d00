/* Bubbles: time in which all that runs on a device are sends and receives that wait for another rank to get there. A
 * stage of a pipeline is idle then, although a kernel runs, and its budget says so. */
#ifndef GAPLINE_ANALYSE_RUN_BUBBLES_H
#define GAPLINE_ANALYSE_RUN_BUBBLES_H

#include "analyse/run/waiting.h"

/* The bubbles of one device, found in order of time. */
struct bubble_list {
	const struct collective_op *const *ops; /* the device's, by start */
	size_t n_ops, next;                     /* the first that has not started yet */
	const struct collective_op **running;   /* a heap; room for all ops */
	size_t n_running;
	struct arena *arena; /* of the list */
	struct bubble *bubble;
	size_t n, room;
};

/* Adds a stretch, later than all before, in which no op starts or ends. Its phase is that of the op that was launched
 * first of those that run in it, as for every busy instant: the cost of phases stays what it is. */
void bubbles_add(struct bubble_list *list, const struct stretch *stretch);

/* Moves the bubbles of all devices of a charged run from communication to idle time, CAUSE_BUBBLE. Once. */
void bubbles_charge(struct run *run, const struct waiting *waiting);

/* The idle stretches of a device in order of time: its gaps, and the bubbles between them. They may be held by two runs
 * of one device: the gaps by that of its part (run/parts.h). */
struct idle_walk {
	const struct run *run; /* of the gaps */
	const struct device_run *gaps, *bubbles;
	size_t gap, bubble; /* the next ones */
};

/* The next one that ends after `after`: false, there is none; else `bubble` is it, or NULL, and `gap` is it. */
bool idle_next(struct idle_walk *walk, int64_t after, struct gap *gap, const struct bubble **bubble);

/* A bubble as a piece of idle time. */
struct doing bubble_piece(const struct run *run, const struct bubble *bubble);

#endif
