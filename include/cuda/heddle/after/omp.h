/* OpenMP's functions, where clang's own <omp.h> is not installed: GCC's header, as nvcc finds
 * it. Clang knows no attribute `malloc (free)`; an empty one says nothing. */
#pragma push_macro("__malloc__")
#define __malloc__(...)
#include_next <omp.h>
#pragma pop_macro("__malloc__")
