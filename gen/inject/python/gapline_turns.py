"""Which optimizers end a step of the program. Those that take turns, as a generator's and a discriminator's, end one together,
where one of them steps again. One that trains alone, for several steps, ends one each time; so does a new one that begins
behind such a one."""

import threading
import weakref

LATELY = 32  # steps of an optimizer


class Seen:
    def __init__(self):
        self.thread = None  # the one whose optimizers end steps
        self.last = lambda: None  # weak reference to the optimizer that stepped last
        self.counts = weakref.WeakKeyDictionary()  # by optimizer: its steps, and how often it took over from another one
        self.round = weakref.WeakSet()  # the one that ended a step, and who stepped since


seen = Seen()


def is_of_another_thread():
    if seen.thread is not threading.current_thread():
        if seen.thread and seen.thread.is_alive():
            return True
        seen.thread = threading.current_thread()
    return False


def is_new(optimizer):
    return optimizer not in seen.counts


def trains_alone(optimizer):
    steps, turns = seen.counts.get(optimizer, (0, 0))
    return 2 * steps >= 3 * turns > 0


def ends_step(optimizer):
    before = seen.last()
    follows = is_new(optimizer) and before is not None and trains_alone(before)
    steps, turns = seen.counts.get(optimizer, (0, 0))
    lately = 0.5 if steps >= LATELY else 1  # what was long ago counts less: models are trained alone, and then in turns
    seen.counts[optimizer] = lately * steps + 1, lately * turns + (before is not optimizer)
    seen.last = weakref.ref(optimizer)
    ends = not seen.round or optimizer in seen.round or trains_alone(optimizer) or follows
    if ends:
        seen.round = weakref.WeakSet()
    seen.round.add(optimizer)
    return ends
