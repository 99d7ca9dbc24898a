/* What groups reduce and scan by: CUDA C++ Programming Guide, "Cooperative Groups", "Reduction". */
#ifndef HEDDLE_GROUP_OPERATIONS_H
#define HEDDLE_GROUP_OPERATIONS_H

#include "../cooperative_groups.h"

namespace cooperative_groups
{
namespace __v1
{

#define HEDDLE_OPERATION(name, expression)                                                                             \
    template <class T> struct name {                                                                                   \
        __device__ __forceinline__ __attribute__((nodebug)) T operator()(T x, T y) const                               \
        {                                                                                                              \
            return expression;                                                                                         \
        }                                                                                                              \
    };
HEDDLE_OPERATION(plus, x + y)
HEDDLE_OPERATION(less, y < x ? y : x)
HEDDLE_OPERATION(greater, x < y ? y : x)
HEDDLE_OPERATION(bit_and, x &y)
HEDDLE_OPERATION(bit_or, x | y)
HEDDLE_OPERATION(bit_xor, x ^ y)
#undef HEDDLE_OPERATION

} // namespace __v1
} // namespace cooperative_groups

#endif
