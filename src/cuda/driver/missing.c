/* The entry points that Heddle does not have: entries of api.def with the state `no`. Each returns
 * CUDA_ERROR_NOT_SUPPORTED and is named in the log, so that programs that are bound to them at
 * start-up run.
 *
 * They are declared without parameters: in C the caller removes its arguments.
 */
#define HEDDLE_CUDA_VERSIONS
#include "cuda/api.h"

#undef cuGetProcAddress

#define MISSING(symbol)                                                                                                \
    CU_API CUresult missing_##symbol(void) __asm__("heddle_" #symbol);                                                 \
    CUresult missing_##symbol(void)                                                                                    \
    {                                                                                                                  \
        return api_not_supported(#symbol);                                                                             \
    }
#define MISSING_plain(symbol) MISSING(symbol)
#define MISSING_ptds(symbol)  MISSING(symbol) MISSING(symbol##_ptds)
#define MISSING_ptsz(symbol)  MISSING(symbol) MISSING(symbol##_ptsz)

#define API(export, name, version, stream, state) STATE_##state(export, stream)
#define STATE_no(export, stream)                  MISSING_##stream(export)
#define STATE_done(export, stream)
#define STATE_partial(export, stream)
#include "cuda/api.def"
