/* Writers of diagnostics: text for people, JSON for programs, SARIF for editors and code hosts. */
#ifndef HEDDLE_REPORT_REPORT_H
#define HEDDLE_REPORT_REPORT_H

#include "base/diag.h"

/* Each diagnostic as "file:line: error: text [code]", its line of PTX with a caret, its help. The place that comes first
 * is that of the CUDA source where it is known; its line stands there, too, where the file can be read (as named, or from
 * the PTX file's folder). */
struct str report_text(const struct diags *d, struct arena *arena);

/* A JSON array of objects: severity, code, cuda_file, cuda_line, inlined_file, inlined_line, file, line, column, length
 * (of the PTX), text, help, count; what is not known is left out. */
struct str report_json(const struct diags *d, struct arena *arena);

/* A SARIF 2.1.0 log of one run: a result for each error and warning, its notes as related locations. */
struct str report_sarif(const struct diags *d, struct arena *arena);

/* "error", "warning", "note": also SARIF's levels. */
const char *report_severity(const struct diag *d);

#endif
