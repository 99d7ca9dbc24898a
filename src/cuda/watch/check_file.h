/* The file of a checked process (process/file.h), with its findings so far. Private to cuda/watch/.
 * Lines between the first and the last:
 *
 *     {"finding": N, "says": [...]}
 *         a finding with its notes (report/report.h), when it is new or has changed
 *     {"findings": [N, ...]}
 *         the valid findings, in the order of reports; the last such line counts
 *     {"launches": N, "unchecked": N, "calls": N, "running": {...}, "blocks": [N, M], "kernels":
 * [...]}
 *         numbers of launches and of library calls; running launches by kernel; their finished and
 * all blocks; mangled names of kernels that were checked for the first time
 */
#ifndef HEDDLE_CUDA_WATCH_CHECK_FILE_H
#define HEDDLE_CUDA_WATCH_CHECK_FILE_H

#include <jansson.h>

#include "heddle.h"

struct check_progress {
    uint64_t launches, unchecked, calls;
    uint64_t blocks_done, blocks; /* of the running launches */
    /* An object: mangled names of the checked kernels, in the order of first launches. */
    json_t *kernels;
    json_t *running; /* an object: the number of running launches by kernel */
    bool ended;
};

void check_file_open(const char *folder);
bool check_file_is_open(void);
/* Adds what is new; the report may be NULL. */
void check_file_write(const struct check_progress *p, hd_report *findings);

#endif
