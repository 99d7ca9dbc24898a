/* The entry points that a library does not have: rows of its table with the state `no`. Each
 * returns "not supported" and is named on stderr, so that programs that are bound to them at
 * start-up run. They are declared without parameters: in C the caller removes its arguments.
 * Compiled once for each library: LIBRARY_DEF is its table, NOT_SUPPORTED its status.
 */
#include "libraries/common/library.h"

#define STATE_done(name)
#define STATE_partial(name)
#define STATE_no(name)                                                                                                 \
    LIBRARY_API __typeof__(NOT_SUPPORTED) name(void);                                                                  \
    __typeof__(NOT_SUPPORTED) name(void)                                                                               \
    {                                                                                                                  \
        LIBRARY_REFUSE(#name);                                                                                         \
        return NOT_SUPPORTED;                                                                                          \
    }
#define ENTRY(name, first, last, state) STATE_##state(name)
#include LIBRARY_DEF
