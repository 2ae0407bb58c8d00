/* What is said of an input that is not there. */
#ifndef GAPLINE_CMD_INPUTS_MISSING_H
#define GAPLINE_CMD_INPUTS_MISSING_H

#include "base/err.h"

/* Fills `err`: which part of the path is not there, and the name in its folder that was meant, if one is near. -1. */
int inputs_missing(const char *path, struct err *err);

#endif
