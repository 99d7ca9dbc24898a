/* The products of matrices of each CPU level; see mma.h. */
#include "isa/mma.h"

#include "isa/by_level.h"

DEFINE_BY_LEVEL(struct mma_fns, mma)
