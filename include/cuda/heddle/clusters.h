/* Clusters: CUDA C++ Programming Guide, "Thread Block Clusters"; the names are those of CUDA's
 * sm_90_rt.h. */
#ifndef HEDDLE_CLUSTERS_H
#define HEDDLE_CLUSTERS_H

#include "define.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

#define HEDDLE_SREG(name, register)                                                                                    \
    HEDDLE_INLINE unsigned name()                                                                                      \
    {                                                                                                                  \
        unsigned value;                                                                                                \
        __asm__("mov.u32 %0, %%" register ";" : "=r"(value));                                                          \
        return value;                                                                                                  \
    }
#define HEDDLE_SREGS(name, register)                                                                                   \
    HEDDLE_INLINE dim3 name()                                                                                          \
    {                                                                                                                  \
        dim3 value;                                                                                                    \
        __asm__("mov.u32 %0, %%" register ".x;" : "=r"(value.x));                                                      \
        __asm__("mov.u32 %0, %%" register ".y;" : "=r"(value.y));                                                      \
        __asm__("mov.u32 %0, %%" register ".z;" : "=r"(value.z));                                                      \
        return value;                                                                                                  \
    }
HEDDLE_SREGS(__clusterDim, "cluster_nctaid")
HEDDLE_SREGS(__clusterRelativeBlockIdx, "cluster_ctaid")
HEDDLE_SREGS(__clusterGridDimInClusters, "nclusterid")
HEDDLE_SREGS(__clusterIdx, "clusterid")
HEDDLE_SREG(__clusterRelativeBlockRank, "cluster_ctarank")
HEDDLE_SREG(__clusterSizeInBlocks, "cluster_nctarank")
#undef HEDDLE_SREG
#undef HEDDLE_SREGS

HEDDLE_INLINE unsigned __clusterDimIsSpecified()
{
    unsigned is;
    __asm__("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(is));
    return is;
}

HEDDLE_INLINE void __cluster_barrier_arrive()
{
    __asm__ __volatile__("barrier.cluster.arrive;" ::: "memory");
}
HEDDLE_INLINE void __cluster_barrier_arrive_relaxed()
{
    __asm__ __volatile__("barrier.cluster.arrive.relaxed;" ::: "memory");
}
HEDDLE_INLINE void __cluster_barrier_wait()
{
    __asm__ __volatile__("barrier.cluster.wait;" ::: "memory");
}

/* Shared memory of another block, and whose an address is. */
HEDDLE_INLINE void *__cluster_map_shared_rank(const void *address, unsigned rank)
{
    unsigned long long there;
    __asm__("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(address), "r"(rank));
    return (void *)there;
}
HEDDLE_INLINE unsigned __cluster_query_shared_rank(const void *address)
{
    unsigned rank;
    __asm__("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(address));
    return rank;
}

#endif

#endif
