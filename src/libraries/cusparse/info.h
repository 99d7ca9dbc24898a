/* What analyses of the older functions leave for their calls: csrilu02Info_t and its like. */
#ifndef HEDDLE_CUSPARSE_INFO_H
#define HEDDLE_CUSPARSE_INFO_H

#include "libraries/cusparse/call.h"

enum family { FAMILY_CSRILU, FAMILY_CSRIC, FAMILY_BSRILU, FAMILY_BSRIC, FAMILY_BSRSV, FAMILY_BSRSM };

struct info {
    enum family family;
    int pivot; /* the first row, or row of blocks, that has none or a zero one, from the matrix's base on; or -1 */
    bool analysed;
    bool captured; /* a graph has a call with it: it stays in memory */
    bool boosts;   /* replaces pivots of up to `tolerance` */
    double tolerance;
    number boost;
};

/* NULL: it is none of the family. */
struct info *info_find(const void *handle, enum family family);

/* Is a call with it to be waited for? Where it is captured it is not, and writes the info whenever
 * the graph runs. */
bool info_waits(const struct context *s, struct info *info);

/* Puts a task that finds the first row without a diagonal, and the host waits for it. */
cusparseStatus_t info_analyse(const struct context *s, const char *name, struct info *info, const struct sparse *a,
                              bool needs_diagonal);

/* Of a pivot in a row of elements. */
static inline int info_position(const struct sparse *a, int64_t row)
{
    return (int)(row / (a->block_rows ? a->block_rows : 1) + a->base);
}

#endif
