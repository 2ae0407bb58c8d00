/* What a reader of the spool has to be told beside CUPTI's records: how long they are, and what they only point to. */
#ifndef GAPLINE_INJECT_CUPTI_RECORDS_H
#define GAPLINE_INJECT_CUPTI_RECORDS_H

#include "cupti_api.h"

/* Writes sizes, kernel names, names of API calls, devices and thread names that occur in the buffer for the first time,
 * then the buffer itself. By the background thread. */
void records_put(const struct cupti_api *api, uint8_t *buffer, size_t valid);

#endif
