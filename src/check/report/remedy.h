/* Remedies, in the terms of the language in which a kernel is written. */
#ifndef HEDDLE_CHECK_REPORT_REMEDY_H
#define HEDDLE_CHECK_REPORT_REMEDY_H

#include "base/diag.h"

/* `help` is a remedy in CUDA C++; `kernel` is the mangled name. Both may be NULL. */
const char *remedy_in_language(const char *help, const char *kernel, const struct place *p, struct arena *arena);

#endif
