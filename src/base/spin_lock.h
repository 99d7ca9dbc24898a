/* A lock that is held for less time than a thread takes to sleep and wake. Who waits only reads, so
 * that the holder keeps the lock's cache line; where there are more threads than processors, who
 * waits for long lets others run. */
#ifndef HEDDLE_BASE_SPIN_LOCK_H
#define HEDDLE_BASE_SPIN_LOCK_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

/* Between two looks: leaves the core to its other thread for a moment. (On AArch64 `yield` does
 * nothing where cores have one.) */
static inline void spin_pause(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb" ::: "memory");
#endif
}

enum { SPIN_PAUSES_TO_YIELD = 1024 };

/* 0 is free, 1 is held. */
static inline void spin_lock(_Atomic uint8_t *l)
{
    for (unsigned pauses = 0; atomic_exchange_explicit(l, 1, memory_order_acquire) != 0;)
        while (atomic_load_explicit(l, memory_order_relaxed) != 0) {
            spin_pause();
            if (++pauses % SPIN_PAUSES_TO_YIELD == 0)
                sched_yield();
        }
}

static inline void spin_unlock(_Atomic uint8_t *l)
{
    atomic_store_explicit(l, 0, memory_order_release);
}

#endif
