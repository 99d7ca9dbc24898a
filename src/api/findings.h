/* A report finding by finding, for CUDA's libraries. */
#ifndef HEDDLE_API_FINDINGS_H
#define HEDDLE_API_FINDINGS_H

#include "heddle.h"

/* The JSON of the finding at *at (0: the first), as hd_report_json() has it: one line with an array
 * of it and its notes, valid as long as the report. *at becomes the position of the next. NULL:
 * there is none; or, if *at is less than hd_report_count(), memory is exhausted. */
const char *report_next_finding(hd_report *r, size_t *at);

/* What is found again from now on is reported with its launch: checker_period(). */
void api_findings_period(hd_checker *c);

/* Lets a function change the report's list, as report_leave_out() does, and returns its result; 0
 * if memory is exhausted. */
struct diags;
typedef uint32_t report_change_fn(void *data, struct diags *d);
uint32_t report_change(hd_report *r, report_change_fn *change, void *data);

#endif
