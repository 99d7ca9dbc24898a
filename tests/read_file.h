/* A file that a test reads whole. */
#ifndef HEDDLE_TESTS_READ_FILE_H
#define HEDDLE_TESTS_READ_FILE_H

#include <stdio.h>

#include "base/text.h"

/* Into the arena; false where it cannot be read. */
static inline bool read_file(const char *path, struct arena *a, struct str *text)
{
    struct text t = {.arena = a};
    char buffer[4096];
    FILE *f = fopen(path, "rb");
    for (size_t n; f && (n = fread(buffer, 1, sizeof buffer, f)) > 0;)
        text_put(&t, buffer, n);
    bool ok = f && !ferror(f);
    if (f)
        fclose(f);
    *text = (struct str){t.p, t.n};
    return ok;
}

#endif
