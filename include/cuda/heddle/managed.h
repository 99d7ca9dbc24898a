/* __managed__ variables: CUDA C++ Programming Guide, "__managed__ Memory Space Specifier". clang
 * has none. The variable of the host's code stands in a section of its own; the runtime is told
 * where that is before it hears of the variables, and gives the device's variable the same address,
 * and its initial value to both.
 */
#ifndef HEDDLE_MANAGED_H
#define HEDDLE_MANAGED_H

#include "../cuda_runtime_api.h"

#ifndef __CUDA_ARCH__
extern "C" {
/* by the linker, where there is such a section */
extern char __start_heddle_managed[] __attribute__((weak, visibility("hidden")));
extern char __stop_heddle_managed[] __attribute__((weak, visibility("hidden")));
__attribute__((weak, visibility("hidden"), nodebug, constructor(101))) void heddle_tell_managed()
{
    if (__start_heddle_managed)
        __heddleManagedVariables(__start_heddle_managed, __stop_heddle_managed);
}
}
#endif

#endif
