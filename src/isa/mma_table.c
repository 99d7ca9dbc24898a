/* The products of matrices of each CPU level; see mma.h. */
#include "isa/mma.h"

#include <stddef.h>
#include <string.h>

#if defined __x86_64__
extern const struct mma_fns mma_v2, mma_v3;
static const struct {
    const char *level;
    const struct mma_fns *fns;
} levels[] = {{"x86-64-v4", &mma_v3}, /* vectors of eight, and masks in registers of their own take longer */
              {"x86-64-v3", &mma_v3},
              {"x86-64-v2", &mma_v2}};
#else
extern const struct mma_fns mma_generic;
static const struct {
    const char *level;
    const struct mma_fns *fns;
} levels[] = {{"generic", &mma_generic}};
#endif

const struct mma_fns *mma_for_level(const char *level)
{
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (level && strcmp(level, levels[i].level) == 0)
            return levels[i].fns;
    return levels[sizeof levels / sizeof levels[0] - 1].fns;
}
