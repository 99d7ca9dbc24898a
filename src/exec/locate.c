/* Finds the memory of an address, or its fault, for one lane at a time. access.c serves whole warps
 * if it can, and calls this for the rest.
 */
#include "exec/access.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "mem/local.h"

uint32_t block_rank(const struct block *b)
{
    return (uint32_t)(b->index % b->launch->blocks_per_cluster);
}

struct block *block_of_rank(struct block *b, uint32_t rank)
{
    struct block *peer = b;
    do {
        if (block_rank(peer) == rank)
            return peer;
        peer = peer->peer;
    } while (peer != b);
    return NULL;
}

static bool in_window(uint64_t address, uint64_t start, uint64_t bytes)
{
    return address - start < bytes;
}

static enum fault_kind locate_in(struct block *b, uint64_t address, uint32_t bytes, struct location *p)
{
    uint64_t asked = b->launch->asked_shared_bytes, limit = b->launch->shared_bytes;
    *p = (struct location){.space = SPACE_SHARED, .address = address, .window = asked, .owner = b};
    if ((bytes ? address >= asked : address > asked) || bytes > limit - address)
        return FAULT_illegal_address;
    p->at = b->shared + address;
    return FAULT_none;
}

/* Addresses count from the block's own memory. That of the others in its cluster is so many windows
 * before or behind as their ranks differ; addresses of 32 bits wrap (PTX ISA 9.7.9.23). */
static enum fault_kind locate_shared(const struct warp *w, uint64_t address, uint32_t bytes, struct location *p)
{
    struct block *b = w->block;
    uint64_t n = b->launch->blocks_per_cluster, rank = block_rank(b);
    int64_t distance = address >> 32 ? (int64_t)address : (int32_t)address;
    enum fault_kind kind = locate_in(b, address, bytes, p);
    if (!kind || n == 1)
        return kind;
    uint64_t other = rank + (uint64_t)(distance >> SHARED_WINDOW_LOG2);
    if (other >= n || other == rank)
        return kind;
    struct block *peer = block_of_rank(b, (uint32_t)other);
    *p = (struct location){.space = SPACE_SHARED, .address = other};
    return peer ? locate_in(peer, (uint64_t)distance & (MEM_SHARED_WINDOW_BYTES - 1), bytes, p) : FAULT_block_ended;
}

static enum fault_kind locate_local(struct warp *w, uint64_t address, uint32_t bytes, struct location *p)
{
    uint64_t limit = w->block->launch->kernel->local_bytes;
    *p = (struct location){.space = SPACE_LOCAL, .address = address, .window = limit};
    if (address > limit || bytes > limit - address)
        return FAULT_illegal_address;
    warp_need_local(w, address + bytes);
    return FAULT_none;
}

static enum fault_kind locate_global(const struct warp *w, uint64_t address, uint32_t bytes, bool writes,
                                     struct location *p)
{
    struct mem_block b;
    bool in_tail;
    *p = (struct location){.at = (uint8_t *)(uintptr_t)address, .space = SPACE_GLOBAL, .address = address};
    if (!mem_reach_bytes(&w->block->launch->machine->mem, address, bytes, &b, &in_tail))
        return FAULT_illegal_address;
    if (in_tail)
        atomic_store_explicit(&w->block->launch->used_tail, true, memory_order_relaxed);
    p->at += mem_shift(&w->block->launch->machine->mem, &b);
    return writes && (b.kind == MEM_CONST || b.kind == MEM_PARAM) ? FAULT_read_only : FAULT_none;
}

/* A constant displacement may lead beyond the parameters, into host memory. */
static enum fault_kind locate_param(const struct warp *w, uint64_t address, uint32_t bytes, struct location *p)
{
    const struct launch *l = w->block->launch;
    uint64_t at = address - (uint64_t)(uintptr_t)l->params, limit = l->kernel->param_bytes;
    *p = (struct location){.at = (uint8_t *)(uintptr_t)address, .space = SPACE_GLOBAL, .address = address};
    return at > limit || bytes > limit - at ? FAULT_illegal_address : FAULT_none;
}

enum fault_kind access_locate(struct warp *w, enum ptx_space space, uint64_t address, uint32_t bytes, bool writes,
                              struct location *p)
{
    const struct mem *m = &w->block->launch->machine->mem;
    if (space == SPACE_GENERIC && in_window(address, mem_shared_window(m), MEM_CLUSTER_WINDOW_BYTES))
        return locate_shared(w, address - mem_shared_window(m) - w->block->shared_start, bytes, p);
    if (space == SPACE_GENERIC && in_window(address, mem_local_window(m), MEM_LOCAL_WINDOW_BYTES))
        return locate_local(w, address - mem_local_window(m), bytes, p);
    switch (space) {
    case SPACE_SHARED: return locate_shared(w, address, bytes, p);
    case SPACE_LOCAL: return locate_local(w, address, bytes, p);
    case SPACE_PARAM: return locate_param(w, address, bytes, p);
    default: break;
    }
    enum fault_kind kind = locate_global(w, address, bytes, writes, p);
    if (kind != FAULT_illegal_address ||
        !in_window(address, mem_local_window(m), MEM_LOCAL_WINDOW_BYTES + MEM_CLUSTER_WINDOW_BYTES))
        return kind;
    bool is_local = in_window(address, mem_local_window(m), MEM_LOCAL_WINDOW_BYTES);
    *p = is_local ? (struct location){.space = SPACE_LOCAL, .address = address - mem_local_window(m)}
                  : (struct location){.space = SPACE_SHARED, .address = address - mem_shared_window(m)};
    return FAULT_address_space; /* global memory is meant, as an H200 says */
}

/* For instructions whose generic addresses must be in shared memory. */
static bool is_for_shared(const struct op *o)
{
    const struct ir_matrix *m = o->origin->kind == IR_MATRIX ? o->origin->matrix : NULL;
    return o->kind == OP_MBARRIER || (m && (m->form.kind == MATRIX_LOAD_ROWS || m->form.kind == MATRIX_STORE_ROWS));
}

enum fault_kind access_locate_op(struct warp *w, const struct op *o, uint64_t address, struct location *p)
{
    const struct mem_access *m = &o->access->mem;
    uint32_t bytes = (uint32_t)m->bytes * m->n;
    if (address & (bytes - 1)) {
        *p = (struct location){.space = m->space, .address = address};
        return FAULT_misaligned;
    }
    enum fault_kind kind = access_locate(w, m->space, address, bytes, op_writes(o), p);
    return is_for_shared(o) && p->space != SPACE_SHARED ? FAULT_address_space : kind;
}

bool access_read(struct warp *w, const struct op *o, unsigned lane, uint64_t address, void *to, uint32_t bytes)
{
    struct location p;
    enum fault_kind kind = access_locate(w, SPACE_GENERIC, address, bytes, false, &p);
    if (kind)
        return warp_fault_at(w, kind, o, lane, &p, bytes);
    if (p.at)
        memcpy(to, p.at, bytes);
    else
        for (uint32_t i = 0; i < bytes; i++)
            ((uint8_t *)to)[i] = *local_word(w->local, p.address + i, lane);
    return true;
}
