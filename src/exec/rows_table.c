/* The row helpers of each CPU level; see rows.h. */
#include "exec/rows.h"

#include "isa/by_level.h"

DEFINE_BY_LEVEL(struct row_fns, rows)
