/* Asynchronous copies of a thread, from global memory to its block's shared memory (cp.async, PTX
 * ISA 9.7.9.25.3), and their groups: what cuda_pipeline.h, cooperative groups and <cuda/pipeline>
 * stand on. Before sm_80 a copy is done at once, and nothing is waited for. */
#ifndef HEDDLE_ASYNC_COPY_H
#define HEDDLE_ASYNC_COPY_H

#include "memory.h"

HEDDLE_INLINE unsigned heddle_shared_address(const void *p)
{
    unsigned long long at;
    __asm__("cvta.to.shared.u64 %0, %1;" : "=l"(at) : "l"(p));
    return (unsigned)at;
}

HEDDLE_INLINE unsigned long long heddle_global_address(const void *p)
{
    unsigned long long at;
    __asm__("cvta.to.global.u64 %0, %1;" : "=l"(at) : "l"(p));
    return at;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/* A unit of 4, 8 or 16 bytes, of which the last `zeroes` are not read. */
#define HEDDLE_COPY_UNIT(bytes, kind)                                                                                  \
    HEDDLE_INLINE void heddle_copy_##bytes(void *to, const void *from)                                                 \
    {                                                                                                                  \
        const unsigned at = heddle_shared_address(to);                                                                 \
        const unsigned long long source = heddle_global_address(from);                                                 \
        __asm__ volatile("cp.async." kind ".shared.global [%0], [%1], " #bytes ";" ::"r"(at), "l"(source) : "memory"); \
    }                                                                                                                  \
    HEDDLE_INLINE void heddle_copy_##bytes(void *to, const void *from, unsigned zeroes)                                \
    {                                                                                                                  \
        const unsigned at = heddle_shared_address(to), read = bytes - zeroes;                                          \
        const unsigned long long source = heddle_global_address(from);                                                 \
        __asm__ volatile("cp.async." kind ".shared.global [%0], [%1], " #bytes ", %2;" ::"r"(at), "l"(source),         \
                         "r"(read)                                                                                     \
                         : "memory");                                                                                  \
    }
HEDDLE_COPY_UNIT(4, "ca")
HEDDLE_COPY_UNIT(8, "ca")
HEDDLE_COPY_UNIT(16, "cg")
#undef HEDDLE_COPY_UNIT

HEDDLE_INLINE void heddle_copies_commit()
{
    __asm__ volatile("cp.async.commit_group;" ::: "memory");
}
HEDDLE_INLINE void heddle_copies_wait()
{
    __asm__ volatile("cp.async.wait_all;" ::: "memory");
}
/* For all groups but the newest ones, as many as `left`. */
HEDDLE_INLINE void heddle_copies_wait(unsigned left)
{
    switch (left) {
    case 0: __asm__ volatile("cp.async.wait_group 0;" ::: "memory"); break;
    case 1: __asm__ volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: __asm__ volatile("cp.async.wait_group 2;" ::: "memory"); break;
    case 3: __asm__ volatile("cp.async.wait_group 3;" ::: "memory"); break;
    case 4: __asm__ volatile("cp.async.wait_group 4;" ::: "memory"); break;
    case 5: __asm__ volatile("cp.async.wait_group 5;" ::: "memory"); break;
    case 6: __asm__ volatile("cp.async.wait_group 6;" ::: "memory"); break;
    /* More than are left: no harm. */
    default: __asm__ volatile("cp.async.wait_group 7;" ::: "memory"); break;
    }
}
/* The mbarrier's phase has one arrival more, which comes when the
 * thread's copies so far are done. */
HEDDLE_INLINE void heddle_copies_arrive(void *mbarrier)
{
    __asm__ volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(heddle_shared_address(mbarrier)) : "memory");
}

#else

/* Both ends are aligned to the unit, so that all of it is one load and one store. */
#define HEDDLE_COPY_UNIT(bytes)                                                                                        \
    HEDDLE_INLINE void heddle_copy_##bytes(void *to, const void *from, unsigned zeroes = 0)                            \
    {                                                                                                                  \
        typedef unsigned unit __attribute__((vector_size(bytes), may_alias));                                          \
        if (zeroes == 0)                                                                                               \
            *(unit *)to = *(const unit *)from;                                                                         \
        for (unsigned i = 0; zeroes != 0 && i < bytes; i++)                                                            \
            ((char *)to)[i] = i < bytes - zeroes ? ((const char *)from)[i] : 0;                                        \
    }
HEDDLE_COPY_UNIT(4)
HEDDLE_COPY_UNIT(8)
HEDDLE_COPY_UNIT(16)
#undef HEDDLE_COPY_UNIT
HEDDLE_INLINE void heddle_copies_commit() {}
HEDDLE_INLINE void heddle_copies_wait(unsigned = 0) {}

#endif

/* What the thread with a rank among so many copies of `bytes` bytes, from anywhere to anywhere. */
HEDDLE_INLINE void heddle_copy_part(void *to, const void *from, size_t bytes, size_t rank, size_t threads)
{
    const size_t all = (size_t)to | (size_t)from | bytes;
    const bool async = __isShared(to) && __isGlobal(from);
    if (async && all % 16 == 0)
        for (size_t i = 16 * rank; i < bytes; i += 16 * threads)
            heddle_copy_16((char *)to + i, (const char *)from + i);
    else if (async && all % 8 == 0)
        for (size_t i = 8 * rank; i < bytes; i += 8 * threads)
            heddle_copy_8((char *)to + i, (const char *)from + i);
    else if (async && all % 4 == 0)
        for (size_t i = 4 * rank; i < bytes; i += 4 * threads)
            heddle_copy_4((char *)to + i, (const char *)from + i);
    else
        for (size_t i = rank; i < bytes; i += threads)
            ((char *)to)[i] = ((const char *)from)[i];
}

#endif
