/* What two commands are called beside each other. Pure texts: nothing is run or opened. */
#ifndef GAPLINE_CAPTURE_COMMAND_NAMES_H
#define GAPLINE_CAPTURE_COMMAND_NAMES_H

#include "base/arena.h"

/* words[s]: a command line, ending with NULL. A name is the file name of the program: of the script or module that an
 * interpreter or a launcher is given, of what a shell's code runs last. Where both sides' programs are called the same,
 * what differs between the commands follows, as far as that is short: `train.py --workers 8`, `new/train.py`. Of paths
 * no more than that folder's name is shown, of what an option with a secret's name is given nothing. Both names are
 * the same where nothing that can be shown differs. In the arena; never empty. */
void command_names(const char *const *const words[2], const char *names[2], struct arena *arena);

#endif
