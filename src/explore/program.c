/* Positions in the grid, special registers, and the targets of addresses; see program.h. */
#include "explore/program.h"

#include "base/diag.h"
#include "exec/layout.h"

enum { BUCKETS = 4096 };

/* The values of a function's constants as in the interpreter, including addresses. */
static uint64_t *constants_of(struct program *p, const struct code *c)
{
    struct code_layout layout;
    uint64_t *values = ARENA_ARRAY(p->arena, uint64_t, c->ir->consts.n);
    layout_find(&layout, c->ir, p->arena);
    for (uint32_t i = 1; i < c->ir->consts.n; i++) {
        uint8_t width = c->ir->consts.at[i].width;
        memcpy(&values[i], c->consts + layout.consts[i], width == 1 ? 1 : width < 64 ? width / 8 : 8);
        values[i] &= width == 1 ? 1 : ~0ull;
    }
    return values;
}

/* Runs the analyses of a function; false if they take too much. */
static bool find_waits(struct program *p, uint32_t i)
{
    const struct ir_func *f = p->kernel->functions.at[i]->ir;
    p->constants[i] = constants_of(p, p->kernel->functions.at[i]);
    p->idle[i] = find_idle(p->arena, f);
    f = without_idle(p->arena, f, &p->idle[i]);
    if (!ir_find_live(f, p->arena, &p->live[i]))
        return false;
    const struct detour *detours = find_detours(p->arena, f, p->constants[i], &p->live[i]);
    f = with_detours(p->arena, f, detours);
    p->loops[i] = find_loop_kinds(p, f, p->constants[i], detours);
    return ir_find_live(f, p->arena, &p->live[i]);
}

bool program_begin(struct program *p)
{
    const struct kernel *k = p->kernel;
    p->n_blocks = p->grid[0] * p->grid[1] * p->grid[2];
    p->threads_per_block = p->block[0] * p->block[1] * p->block[2];
    p->blocks_per_cluster = p->cluster[0] * p->cluster[1] * p->cluster[2];
    p->shared_bytes = k->static_shared_bytes + p->dynamic_shared_bytes;
    p->buckets = ARENA_ARRAY(p->arena, uint16_t, BUCKETS);
    p->live = ARENA_ARRAY(p->arena, struct ir_live, k->functions.n);
    p->constants = ARENA_ARRAY(p->arena, uint64_t *, k->functions.n);
    p->loops = ARENA_ARRAY(p->arena, struct loop_kind *, k->functions.n);
    p->idle = ARENA_ARRAY(p->arena, struct idle, k->functions.n);
    for (uint32_t i = 0; i < k->functions.n; i++)
        if (!find_waits(p, i)) {
            program_refuse(p, NULL, "the kernel is too large");
            return false;
        }
    return true;
}

void program_place(const struct program *p, uint32_t block, uint32_t thread, struct place_in_grid *at)
{
    *at = (struct place_in_grid){
        .block = block, .warp = thread / WARP_LANES, .lane = thread % WARP_LANES, .lanes = 1u << thread % WARP_LANES};
    uint32_t across[3];
    for (int i = 0; i < 3; i++) {
        at->tid[i] = thread % p->block[i];
        at->ctaid[i] = block % p->grid[i];
        thread /= p->block[i];
        block /= p->grid[i];
        across[i] = p->grid[i] / p->cluster[i];
    }
    for (int i = 2; i >= 0; i--) {
        at->cluster = at->cluster * across[i] + at->ctaid[i] / p->cluster[i];
        at->rank = at->rank * p->cluster[i] + at->ctaid[i] % p->cluster[i];
    }
}

static uint64_t lane_mask(enum isa_sreg s, uint32_t lane)
{
    switch (s) {
    case SREG_lanemask_eq: return 1u << lane;
    case SREG_lanemask_lt: return (1u << lane) - 1;
    case SREG_lanemask_le: return (2u << lane) - 1;
    case SREG_lanemask_gt: return (uint32_t)~((2u << lane) - 1);
    default: return (uint32_t)~((1u << lane) - 1);
    }
}

uint64_t program_special(const struct program *p, const struct place_in_grid *at, uint32_t number)
{
    unsigned c = number % 4;
    if (number == IR_PARAM_BASE)
        return (uint64_t)(uintptr_t)p->params;
    if (number == IR_SHARED_START)
        return p->kernel->clustered ? (uint64_t)at->rank << SHARED_WINDOW_LOG2 : 0;
    if (number >= IR_ENVREG) /* in the order of exec/block.c */
        return number == IR_ENVREG + 1   ? p->grid_barrier >> 32
               : number == IR_ENVREG + 2 ? (uint32_t)p->grid_barrier
                                         : 0;
    switch ((enum isa_sreg)(number / 4)) {
    case SREG_tid: return c < 3 ? at->tid[c] : 0;
    case SREG_ntid: return c < 3 ? p->block[c] : 1;
    case SREG_laneid: return at->lane;
    case SREG_warpid: return at->warp;
    case SREG_nwarpid: return (p->threads_per_block + WARP_LANES - 1) / WARP_LANES;
    case SREG_ctaid: return c < 3 ? at->ctaid[c] : 0;
    case SREG_nctaid: return c < 3 ? p->grid[c] : 1;
    case SREG_smid: return at->block;
    case SREG_nsmid: return p->n_blocks;
    case SREG_clusterid: return c < 3 ? at->ctaid[c] / p->cluster[c] : 0;
    case SREG_nclusterid: return c < 3 ? p->grid[c] / p->cluster[c] : 1;
    case SREG_cluster_ctaid: return c < 3 ? at->ctaid[c] % p->cluster[c] : 0;
    case SREG_cluster_nctaid: return c < 3 ? p->cluster[c] : 1;
    case SREG_cluster_ctarank: return at->rank;
    case SREG_cluster_nctarank: return p->blocks_per_cluster;
    case SREG_is_explicit_cluster: return p->explicit_cluster;
    case SREG_lanemask_eq:
    case SREG_lanemask_le:
    case SREG_lanemask_lt:
    case SREG_lanemask_ge:
    case SREG_lanemask_gt: return lane_mask((enum isa_sreg)(number / 4), at->lane);
    case SREG_total_smem_size: return (p->shared_bytes + 127) & ~127u;
    case SREG_aggr_smem_size: return p->shared_bytes;
    case SREG_dynamic_smem_size: return p->dynamic_shared_bytes;
    default: return 0;
    }
}

uint64_t program_constant(const struct program *p, const struct code *c, uint32_t index)
{
    return p->constants[c->index][index];
}

const struct code *program_function(const struct program *p, const struct ptx_func *f)
{
    for (uint32_t i = 0; i < p->kernel->functions.n; i++)
        if (p->kernel->functions.at[i]->ir->func == f ||
            p->kernel->functions.at[i]->ir->func->definition == f->definition)
            return p->kernel->functions.at[i];
    return NULL;
}

/* ---- locations ---- */

static uint32_t bucket_of(uint32_t block, uint64_t address)
{
    uint64_t h = (address >> 4) * 0x9e3779b97f4a7c15ull + block * 0x85ebca6bull;
    return (uint32_t)(h >> 40) % BUCKETS;
}

static bool overlap(const struct location *a, uint32_t block, uint64_t address, uint8_t bytes)
{
    return a->block == block && a->address < address + bytes && address < a->address + a->bytes;
}

const struct location *program_observed_at(const struct program *p, const struct location *l)
{
    for (uint32_t i = 0; i < p->locations.n; i++) {
        const struct location *other = &p->locations.at[i];
        if (other != l && other->observed_as && overlap(other, l->block, l->address, l->bytes))
            return other;
    }
    return NULL;
}

bool program_memory(const struct mem *m, uint64_t address, uint8_t bytes, uint64_t *value)
{
    struct mem_block b;
    bool in_tail, is_there = mem_reach_bytes(m, address, bytes, &b, &in_tail);
    *value = 0;
    if (is_there)
        memcpy(value, (const uint8_t *)(uintptr_t)(address + mem_shift(m, &b)), bytes);
    return is_there;
}

/* Accesses are aligned and have at most 8 bytes, so overlapping ones have their bucket, 16 bytes,
 * in common. */
static uint16_t location_at(struct program *p, uint32_t block, uint64_t address, uint8_t bytes)
{
    uint16_t *bucket = &p->buckets[bucket_of(block, address)];
    bool overlapped = false;
    for (uint16_t i = *bucket; i; i = p->next.at[i - 1]) {
        struct location *l = &p->locations.at[i - 1];
        if (l->block == block && l->address == address && l->bytes == bytes)
            return (uint16_t)(i - 1);
        if (!overlap(l, block, address, bytes))
            continue;
        if (p->tries) {
            program_refuse(p, NULL, "accesses overlap");
            return NO_LOCATION;
        }
        overlapped = l->overlapped = true;
    }
    if (p->locations.n >= MAX_LOCATIONS) {
        program_refuse(p, NULL, "more than %u places of memory are accessed", MAX_LOCATIONS);
        return NO_LOCATION;
    }
    uint64_t initial = 0;
    if (block == GLOBAL_MEMORY)
        program_memory(p->mem, address, bytes, &initial);
    *VEC_PUSH(p->arena, &p->locations) = (struct location){
        .address = address,
        .block = block,
        .bytes = bytes,
        .initial = initial,
        .overlapped = overlapped,
    };
    *VEC_PUSH(p->arena, &p->next) = *bucket;
    *bucket = (uint16_t)p->locations.n;
    return (uint16_t)(p->locations.n - 1);
}

static struct found find_shared(struct program *p, const struct place_in_grid *at, uint64_t address, uint8_t bytes)
{
    int64_t distance = address >> 32 ? (int64_t)address : (int32_t)address;
    uint64_t other = at->rank + (uint64_t)(distance >> SHARED_WINDOW_LOG2);
    uint32_t block = at->block;
    if (address + bytes > p->shared_bytes && p->blocks_per_cluster > 1) {
        if (other >= p->blocks_per_cluster)
            return (struct found){.target = TARGET_NOTHING};
        address = (uint64_t)distance & (MEM_SHARED_WINDOW_BYTES - 1);
        uint32_t first[3], rank = (uint32_t)other;
        for (int i = 0; i < 3; i++) {
            first[i] = at->ctaid[i] / p->cluster[i] * p->cluster[i] + rank % p->cluster[i];
            rank /= p->cluster[i];
        }
        block = (first[2] * p->grid[1] + first[1]) * p->grid[0] + first[0];
    }
    if (address > p->shared_bytes || bytes > p->shared_bytes - address)
        return (struct found){.target = TARGET_NOTHING};
    return (struct found){.target = TARGET_LOCATION, .location = location_at(p, block, address, bytes)};
}

static struct found find_global(struct program *p, uint64_t address, uint8_t bytes, bool writes)
{
    uint64_t params = (uint64_t)(uintptr_t)p->params;
    struct mem_block b;
    bool in_tail;
    if (address - params < p->kernel->param_bytes)
        return (struct found){.target = writes ? TARGET_READ_ONLY : TARGET_CONSTANT,
                              .bytes = (const uint8_t *)(uintptr_t)address};
    if (!mem_reach_bytes(p->mem, address, bytes, &b, &in_tail))
        return (struct found){.target = TARGET_NOTHING};
    if (b.kind == MEM_CONST || b.kind == MEM_PARAM)
        return (struct found){.target = writes ? TARGET_READ_ONLY : TARGET_CONSTANT,
                              .bytes = (const uint8_t *)(uintptr_t)(address + mem_shift(p->mem, &b))};
    return (struct found){.target = TARGET_LOCATION, .location = location_at(p, GLOBAL_MEMORY, address, bytes)};
}

struct found program_find(struct program *p, const struct place_in_grid *at, enum ptx_space space, uint64_t address,
                          uint8_t bytes, bool writes)
{
    uint64_t start = p->kernel->clustered ? (uint64_t)at->rank << SHARED_WINDOW_LOG2 : 0;
    uint64_t shared = address - mem_shared_window(p->mem), local = address - mem_local_window(p->mem);
    if (address % bytes)
        return (struct found){.target = TARGET_NOTHING};
    if (space == SPACE_SHARED)
        return find_shared(p, at, address, bytes);
    if (space == SPACE_GENERIC && shared < MEM_CLUSTER_WINDOW_BYTES)
        return find_shared(p, at, shared - start, bytes);
    if (space == SPACE_LOCAL)
        return (struct found){.target = TARGET_LOCAL, .local = address};
    if (space == SPACE_GENERIC && local < MEM_LOCAL_WINDOW_BYTES)
        return (struct found){.target = TARGET_LOCAL, .local = local};
    if (space == SPACE_PARAM)
        address += (uint64_t)(uintptr_t)p->params;
    return find_global(p, address, bytes, writes);
}

/* ---- refusals ---- */

void program_refuse(struct program *p, const struct ir_insn *insn, const char *format, ...)
{
    va_list args;
    if (p->refusal.text)
        return;
    va_start(args, format);
    p->refusal = (struct refusal){insn, arena_vprintf(p->arena, format, args)};
    va_end(args);
}

uint32_t program_line(const struct ir_insn *insn)
{
    if (!insn || !insn->origin)
        return 0;
    return place_locate(ptx_place(insn->module, insn->origin->offset, insn->origin->length)).line;
}
