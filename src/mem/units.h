/* The units of a space: their slots, their addresses, the memory behind them, and who uses it.
 * Private to mem/. */
#ifndef HEDDLE_MEM_UNITS_H
#define HEDDLE_MEM_UNITS_H

#include "mem/space.h"

/* Slots: 16 bytes (the kernels' own malloc) to 32 KB. */
enum { CLASS_FIRST_LOG2 = 4, CLASS_LAST_LOG2 = 15, LARGE = -1 };

enum area { AREA_GLOBAL, AREA_CONST, AREA_HOST };

/* One unit of slots, or the run of units of one large allocation. */
struct mem_unit {
    struct mem_unit *next_open, *next, *next_host;
    _Atomic uint64_t start; /* of a large allocation; changes when the unit is reused */
    int class_log2;         /* log2 of the slot size, or LARGE */
    int file;               /* by which its memory is shared, or -1 */
    enum area area;
    bool mapped; /* AREA_HOST: at both addresses */
    uint32_t n_slots, n_free, n_units;
    uint32_t *free_slots;    /* stack of n_free */
    _Atomic uint64_t *sizes; /* by slot: bytes asked for, 0 = free */
    _Atomic uint8_t *kinds;
    const char *_Atomic *names;
    void *_Atomic *data;
};

/* A freed allocation that is not reused yet: mem_guard(). */
struct mem_held {
    struct mem_block block;
    struct mem_unit *unit; /* of the slot; NULL: the allocation was a run of units */
    uint32_t slot;
    struct mem_run run;
};

static inline uint64_t mem_round_up(uint64_t x, uint64_t to)
{
    return (x + to - 1) / to * to;
}

static inline struct mem_unit *mem_unit_of(const struct mem *m, uint64_t address)
{
    uint64_t offset = address - m->heap_start;
    return offset < m->heap_size ? m->units[offset / MEM_UNIT_BYTES] : NULL;
}

static inline uint32_t mem_slot_of(const struct mem_unit *u, uint64_t address)
{
    return u->class_log2 == LARGE ? 0 : (uint32_t)((address - u->start) >> u->class_log2);
}

static inline uint64_t mem_slot_address(const struct mem_unit *u, uint32_t slot)
{
    return u->class_log2 == LARGE ? u->start : u->start + ((uint64_t)slot << u->class_log2);
}

void *mem_reserve(uint64_t bytes);
/* A unit of slots, or one that holds `size` bytes (LARGE); NULL where addresses or memory are
 * exhausted. These and what follows: with the space's lock held. */
struct mem_unit *mem_unit_new(struct mem *m, uint64_t size, int class_log2, enum area area);
/* Returns the unit of a large allocation. Readers may still look at its record, which is unlinked
 * here and freed with the space. */
void mem_unit_give(struct mem *m, struct mem_unit *u, const struct mem_block *block);
void mem_unit_free(struct mem_unit *u);
/* Makes a slot free for reuse. */
void mem_slot_give(struct mem *m, struct mem_unit *u, uint32_t slot);
/* Holds freed memory back for a while; false if the space is not guarded: then it may be reused at
 * once. */
bool mem_hold(struct mem *m, const struct mem_held *h);

/* Waits until no thread uses the space's memory, and keeps others out until mem_keep_out_end(). The
 * caller does not hold the space's lock. */
void mem_await_and_keep_out(struct mem *m);
void mem_keep_out_end(struct mem *m);

/* The bytes of an allocation's tail. */
uint64_t mem_tail_bytes(uint64_t size, enum mem_kind kind);

#endif
