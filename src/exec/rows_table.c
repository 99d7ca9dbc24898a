/* The row helpers of each CPU level; see rows.h. */
#include "exec/rows.h"

#include <stddef.h>
#include <string.h>

#if defined __x86_64__
extern const struct row_fns rows_v2, rows_v3, rows_v4;
static const struct {
    const char *level;
    const struct row_fns *fns;
} levels[] = {{"x86-64-v4", &rows_v4}, {"x86-64-v3", &rows_v3}, {"x86-64-v2", &rows_v2}};
#else
extern const struct row_fns rows_generic;
static const struct {
    const char *level;
    const struct row_fns *fns;
} levels[] = {{"generic", &rows_generic}};
#endif

const struct row_fns *rows_for_level(const char *level)
{
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (level && strcmp(level, levels[i].level) == 0)
            return levels[i].fns;
    return levels[sizeof levels / sizeof levels[0] - 1].fns;
}
