/* The functions of cuda_pipeline.h. */
/* Other compilers have nothing of it. */
#if defined(__CUDA__) && !defined(HEDDLE_CUDA_PIPELINE_PRIMITIVES_H)
#define HEDDLE_CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_runtime.h"
#include "cuda_awbarrier_primitives.h"
#include "heddle/async_copy.h"

/* 4, 8 or 16 bytes, aligned as that, of which the last `zfill` become zeroes. */
HEDDLE_INLINE void __pipeline_memcpy_async(void *__restrict__ to, const void *__restrict__ from, size_t bytes,
                                           size_t zfill = 0)
{
    const bool is_whole = __builtin_constant_p(zfill) && zfill == 0;
    switch (bytes) {
    case 4: is_whole ? heddle_copy_4(to, from) : heddle_copy_4(to, from, (unsigned)zfill); break;
    case 8: is_whole ? heddle_copy_8(to, from) : heddle_copy_8(to, from, (unsigned)zfill); break;
    case 16: is_whole ? heddle_copy_16(to, from) : heddle_copy_16(to, from, (unsigned)zfill); break;
    default: __trap();
    }
}
HEDDLE_INLINE void __pipeline_commit()
{
    heddle_copies_commit();
}
HEDDLE_INLINE void __pipeline_wait_prior(size_t left)
{
    heddle_copies_wait((unsigned)left);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
HEDDLE_INLINE void __pipeline_arrive_on(__mbarrier_t *barrier)
{
    heddle_copies_arrive(barrier);
}
#endif

#endif
