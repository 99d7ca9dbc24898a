/* The entry points that Heddle does not have: entries of runtime.def with the state `no`. Each
 * returns cudaErrorNotSupported and is named in the log, so that programs that are bound to them at
 * start-up run. Compiled once for each major version.
 *
 * They are declared without parameters: in C the caller removes its arguments.
 */
#include "cuda/api.h"

#define MISSING(symbol)                                                                                                \
    CU_API CUresult missing_##symbol(void) __asm__(#symbol);                                                           \
    CUresult missing_##symbol(void)                                                                                    \
    {                                                                                                                  \
        return api_not_supported(#symbol);                                                                             \
    }
#define MISSING_plain(symbol) MISSING(symbol)
#define MISSING_ptds(symbol)  MISSING(symbol) MISSING(symbol##_ptds)
#define MISSING_ptsz(symbol)  MISSING(symbol) MISSING(symbol##_ptsz)

#define RUNTIME(name, first, last, stream, state) STATE_##state(name, stream)
#define STATE_no(name, stream)                    MISSING_##stream(name)
#define STATE_done(name, stream)
#define STATE_partial(name, stream)
#include "cuda/runtime.def"
