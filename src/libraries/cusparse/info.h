/* Results of the older functions' analyses for later calls: csrilu02Info_t and similar types. */
#ifndef HEDDLE_CUSPARSE_INFO_H
#define HEDDLE_CUSPARSE_INFO_H

#include "libraries/cusparse/call.h"

enum family { FAMILY_CSRILU, FAMILY_CSRIC, FAMILY_BSRILU, FAMILY_BSRIC, FAMILY_BSRSV, FAMILY_BSRSM };

struct info {
    enum family family;
    /* the first row, or row of blocks, with a missing or zero pivot, by the matrix's index base;
       or -1 */
    int pivot;
    bool analysed;
    bool captured; /* a graph contains a call that uses it: it is never freed */
    bool boosts;   /* replaces pivots up to `tolerance` */
    double tolerance;
    number boost;
};

/* NULL if it is none of the family. */
struct info *info_find(const void *handle, enum family family);

/* Must a call with this info be waited for? A captured call is not; it writes the info whenever the
 * graph runs. */
bool info_waits(const struct context *s, struct info *info);

/* Finds the first row without a diagonal element, in a task that the host waits for. */
cusparseStatus_t info_analyse(const struct context *s, const char *name, struct info *info, const struct sparse *a,
                              bool needs_diagonal);

/* The position of a pivot, given by a row of elements. */
static inline int info_position(const struct sparse *a, int64_t row)
{
    return (int)(row / (a->block_rows ? a->block_rows : 1) + a->base);
}

#endif
