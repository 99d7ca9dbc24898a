/* A report finding by finding, for CUDA's libraries. */
#ifndef HEDDLE_API_FINDINGS_H
#define HEDDLE_API_FINDINGS_H

#include "heddle.h"

/* The JSON of the finding that begins at *at, 0 being the first, as hd_report_json() has it: an
 * array of it and its notes, in one line, as long as the report; *at becomes that of the next.
 * NULL: there is none, or, where *at is not yet hd_report_count(), memory is exhausted. */
const char *report_next_finding(hd_report *r, size_t *at);

/* Lets a function change the report's list, as report_leave_out() does, and returns what it returns;
 * 0, where memory is exhausted. */
struct diags;
typedef uint32_t report_change_fn(void *data, struct diags *d);
uint32_t report_change(hd_report *r, report_change_fn *change, void *data);

#endif
