/* What `heddle check PROGRAM` has found, in the formats for other programs. */
#ifndef HEDDLE_CLI_CHECK_REPORT_H
#define HEDDLE_CLI_CHECK_REPORT_H

#include "cli/check_results.h"
#include "cli/check_settings.h"
#include "cli/supervise.h"

struct check_report {
    const char *name, *program; /* as it is shown; its path, or NULL where none was run */
    unsigned runs;              /* number of runs */
    const struct ending *first; /* of the first run */
    const struct check_results *results;
    uint32_t suppressed, known; /* findings that rules, and the baseline, leave out */
    bool has_baseline, whole;
    const char *root; /* the root of the sources */
};

/* In the arena. Not for CHECK_TEXT. */
const char *check_report_text(const struct check_report *r, enum check_format format, struct arena *arena);
/* As compute-sanitizer writes it. */
const char *check_sanitizer_text(const struct diags *d, struct arena *arena);
/* By the end of the file's name: JSON unless that is .sarif or .xml. */
enum check_format check_report_format(const char *path);

#endif
