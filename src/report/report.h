/* Writers of diagnostics: text for people, JSON for programs. */
#ifndef HEDDLE_REPORT_REPORT_H
#define HEDDLE_REPORT_REPORT_H

#include "base/diag.h"

/* Each diagnostic as "file:line:column: error: text [code]", its line with a caret, its help. */
struct str report_text(const struct diags *d, struct arena *arena);

/* A JSON array of objects: severity, code, file, line, column, length, text, help. */
struct str report_json(const struct diags *d, struct arena *arena);

#endif
