/* The file of a checked process (process/file.h): what it has found until now. Lines between the
 * first and the last:
 *     {"finding": N, "says": [...]}   a finding with its notes (report/report.h), where it is new or says something else than before
 *     {"findings": [N, ...]}          those that stand, in the order of reports; the last such line counts
 *     {"launches": N, "unchecked": N, "calls": N, "running": {...}, "blocks": [N, M], "kernels": [...]}   how many there were, calls of libraries, too; mangled names of those that
 *                                     were checked for the first time; of kernels with launches that have not ended, how many; blocks of these that are done, of all
 * Private to cuda/watch/.
 */
#ifndef HEDDLE_CUDA_WATCH_CHECK_FILE_H
#define HEDDLE_CUDA_WATCH_CHECK_FILE_H

#include <jansson.h>

#include "heddle.h"

struct check_progress {
    uint64_t launches, unchecked, calls;
    uint64_t blocks_done, blocks; /* of the launches that run */
    json_t *kernels; /* an object: the mangled names of those that were checked, in the order of their first launches */
    json_t *running; /* an object: of kernels whose launches have begun and not ended, how many */
    bool ended;
};

void check_file_open(const char *folder);
bool check_file_is_open(void);
/* Adds what is new; the report may be NULL. */
void check_file_write(const struct check_progress *p, hd_report *findings);

#endif
