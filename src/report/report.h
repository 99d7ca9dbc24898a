/* Writers of diagnostics: text for people, JSON for programs, SARIF for editors and code hosts. */
#ifndef HEDDLE_REPORT_REPORT_H
#define HEDDLE_REPORT_REPORT_H

#include "base/diag.h"

struct json_t; /* jansson.h */

/* Each diagnostic as "file:line: error: text [code]", its line of PTX with a caret, its help. The
 * place that comes first is that of the CUDA source where it is known; its line stands there, too,
 * where the file can be read (as named, or from the PTX file's folder). */
struct str report_text(const struct diags *d, struct arena *arena);

/* A JSON array of objects: severity, code, tool (of `heddle check`, which looks for it; notes
 * have none), cuda_file, cuda_line, inlined_file, inlined_line (the innermost), chain (file and
 * line of all inlined calls, from the kernel's own line in), file, line, column, length, source
 * (of the PTX), text, help, kernel, reason, program, process, repeat, frames (function, file,
 * line, object, offset), launch (frames), count, fingerprint (report_fingerprints(); notes have
 * none); what is not known is left out. */
struct str report_json(const struct diags *d, struct arena *arena);
/* How many diagnostics the finding at `first` takes, with its notes. */
uint32_t report_finding(const struct diags *d, uint32_t first);
/* Takes findings out of the list, with their notes: those whose first element `out` names. Returns
 * how many. */
uint32_t report_leave_out(struct diags *d, const bool *out);
/* Such an array of that finding alone, without its fingerprint, in one line; .p is NULL
 * where memory is exhausted. */
struct str report_json_finding(const struct diags *d, uint32_t first, struct arena *arena);
/* Adds what such an array has, so that all writers write the same again. False where it is none. */
bool report_read(const struct json_t *list, struct diags *d);

struct text;
/* The words of a finding that has no place, to tell it from others: without its addresses, threads
 * and sizes, which differ from run to run. */
void report_put_words(struct text *key, const char *text);

/* Adds findings, with their notes, to those of other runs and processes: of one that is there
 * already (code, kernel, reason and all places are the same), the count. `origin` (kept) is who
 * found what is new, and what was found before in a run that no command repeats, if one repeats
 * this one; NULL: it stays as it is. */
void report_merge(struct diags *to, const struct diags *from, const struct diag_origin *origin);

/* Of each element the fingerprint of its finding, 16 digits and a number that tells equal
 * ones apart ("9f...:1"); NULL of notes. It is of the code, the kernel, the names of the
 * files without their folders and the text of the lines, not their numbers: it stays where
 * lines are inserted, folders are moved and runs differ. Where a file is not at hand, the
 * number stands for the text. */
const char **report_fingerprints(const struct diags *d, struct arena *arena);

/* What a report says of its run, beside the findings. */
struct report_run {
    const char *root;    /* files are named from here (lines.h); NULL: the current folder */
    const char *program; /* or NULL */
    bool all_new;        /* known findings have been left out */
    /* The text of PTX that is no file, by its name in places, in the arena; .p is NULL: not known.
     * The member may be NULL. */
    struct str (*ptx)(void *data, const char *name, struct arena *arena);
    void *data;
    const struct json_t *kernels; /* mangled names of all that were looked at, as keys; or NULL */
};
/* A SARIF 2.1.0 log of one run: a result for each error and warning, its notes as related locations
 * and code flows. */
struct str report_sarif_run(const struct diags *d, const struct report_run *run, struct arena *arena);
/* The same of a run of which nothing is known. */
struct str report_sarif(const struct diags *d, struct arena *arena);
/* JUnit's XML: a test case for each kernel, which fails by its findings, and one for the host. */
struct str report_junit(const struct diags *d, const struct report_run *run, struct arena *arena);

/* "error", "warning", "note": also SARIF's levels. */
const char *report_severity(const struct diag *d);
/* "memcheck", "racecheck", "initcheck", "synccheck": who looks for it; NULL: none of them. Of what
 * is not watched the reason says it. */
const char *report_tool(const struct diag *d);
#endif
