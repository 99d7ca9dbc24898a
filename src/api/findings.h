/* A report finding by finding, for CUDA's libraries. */
#ifndef HEDDLE_API_FINDINGS_H
#define HEDDLE_API_FINDINGS_H

#include "heddle.h"

/* The JSON of the finding that begins at *at, 0 being the first, as hd_report_json() has it: an
 * array of it and its notes, in one line, as long as the report; *at becomes that of the next.
 * NULL: there is none, or, where *at is not yet hd_report_count(), memory is exhausted. */
const char *report_next_finding(hd_report *r, size_t *at);

#endif
