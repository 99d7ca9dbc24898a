/* The 64 bits of an mbarrier object (PTX ISA 9.7.13.15.1), which are also the state that an arrival
 * returns: opaque to programs, but for mbarrier.pending_count.
 *
 * Bits 0 to 19 are the pending count as an H200 has it, counted up to 2^20: so a state of 0 has a
 * pending count of 2^20, as there. Bits 20 to 39 are the expected count; bits 40 to 60 the
 * tx-count, in two's complement; bit 61 says, for a checker, that it has been invalidated, which
 * changes nothing, as on an H200; bit 62 that it has been initialised; bit 63 is the parity of the
 * current phase.
 */
#ifndef HEDDLE_ISA_SEM_MBARRIER_H
#define HEDDLE_ISA_SEM_MBARRIER_H

#define MBARRIER_LIMIT       (1u << 20) /* counts are less */
#define MBARRIER_INVALIDATED (1ull << 61)
#define MBARRIER_VALID       (1ull << 62)
#define MBARRIER_PHASE_BIT   63

static inline u32 sem_mbarrier_pending(u64 state)
{
    return MBARRIER_LIMIT - (u32)(state & (MBARRIER_LIMIT - 1));
}

static inline u32 sem_mbarrier_expected(u64 object)
{
    return (u32)(object >> 20) & (MBARRIER_LIMIT - 1);
}

static inline bool sem_mbarrier_parity(u64 object)
{
    return object >> MBARRIER_PHASE_BIT;
}

static inline s32 sem_mbarrier_transactions(u64 object)
{
    return (s32)((u32)(object >> 40) << 11) >> 11;
}

static inline u64 sem_mbarrier(u32 pending, u32 expected, s32 transactions, bool parity)
{
    return (u64)parity << MBARRIER_PHASE_BIT | MBARRIER_VALID | (u64)((u32)transactions & 0x1fffff) << 40 |
           (u64)expected << 20 | ((MBARRIER_LIMIT - pending) & (MBARRIER_LIMIT - 1));
}

#endif
