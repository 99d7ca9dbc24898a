/* What helps, in the words of the language that a kernel is written in. */
#ifndef HEDDLE_CHECK_REPORT_REMEDY_H
#define HEDDLE_CHECK_REPORT_REMEDY_H

#include "base/diag.h"

/* `help` names what CUDA C++ has; `kernel` is mangled, and may be NULL, as `help`. */
const char *remedy_in_language(const char *help, const char *kernel, const struct place *p, struct arena *arena);

#endif
