/* Comparing text with a file of expected output. */
#ifndef HEDDLE_TESTS_EXPECT_H
#define HEDDLE_TESTS_EXPECT_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Addresses differ from run to run: 0x7f12ab34cd becomes 0x... */
static inline void expect_hide_addresses(char *text)
{
    char *to = text;
    for (char *p = text; *p;) {
        size_t n = strncmp(p, "0x", 2) == 0 ? strspn(p + 2, "0123456789abcdef") : 0;
        if (n > 8) {
            memcpy(to, "0x...", 5);
            to += 5;
            p += n + 2;
        } else {
            *to++ = *p++;
        }
    }
    *to = 0;
}

/* Is `got` what the file holds? With `write` the file is written instead. */
static inline bool expect_file(const char *path, const char *got, bool write)
{
    static char want[1 << 16];
    FILE *f = fopen(path, write ? "wb" : "rb");
    if (!f)
        return false;
    if (write)
        fputs(got, f);
    else
        want[fread(want, 1, sizeof want - 1, f)] = 0;
    fclose(f);
    return write || strcmp(want, got) == 0;
}

#endif
