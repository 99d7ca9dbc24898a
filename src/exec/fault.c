/* Recording faults; see fault.h. */
#include "exec/access.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/stops.h"
#include "exec/worker.h"

#include <stdio.h>

#include "base/demangle.h"
#include "base/file_name.h"

static const struct {
    hd_result result;
    const char *code;
} faults[FAULT_COUNT] = {
#define FAULT(name, result, code) {result, code},
#include "exec/faults.def"
#undef FAULT
};

hd_result fault_result(enum fault_kind kind)
{
    return faults[kind].result;
}

const char *fault_code(enum fault_kind kind)
{
    return faults[kind].code;
}

static bool record(struct warp *w, enum fault_kind kind, const struct op *o, unsigned lane, struct fault f)
{
    struct launch *l = w->block->launch;
    const uint32_t *block = l->request->dims.block;
    uint32_t thread = w->index * WARP_LANES + lane;
    f.kind = kind;
    f.at = o ? o->origin : NULL;
    f.is_write |= o && (o->kind == OP_ST || o->kind == OP_ATOM || (o->kind == OP_COLLECTIVE && op_writes(o)));
    f.is_atomic = o && (o->kind == OP_ATOM || o->kind == OP_MBARRIER);
    f.thread[0] = thread % block[0];
    f.thread[1] = thread / block[0] % block[1];
    f.thread[2] = thread / block[0] / block[1];
    for (int i = 0; i < 3; i++)
        f.block[i] = w->block->ctaid[i];
    pthread_mutex_lock(&l->lock);
    bool first = !l->fault.kind;
    if (first)
        l->fault = f;
    atomic_store(&l->failed, true);
    pthread_mutex_unlock(&l->lock);
    if (first)
        stops_tell_fault(l, w, o, lane);
    return false;
}

bool warp_fault(struct warp *w, enum fault_kind kind, const struct op *o, unsigned lane)
{
    return record(w, kind, o, lane, (struct fault){0});
}

bool warp_fault_value(struct warp *w, enum fault_kind kind, const struct op *o, unsigned lane, uint64_t value)
{
    return record(w, kind, o, lane, (struct fault){.address = value});
}

bool warp_fault_detail(struct warp *w, enum fault_kind kind, const struct op *o, unsigned lane, const char *detail)
{
    struct fault f = {0};
    snprintf(f.detail, sizeof f.detail, "%s", detail);
    return record(w, kind, o, lane, f);
}

bool warp_fault_at(struct warp *w, enum fault_kind kind, const struct op *o, unsigned lane, const struct location *p,
                   uint32_t bytes)
{
    return record(w, kind, o, lane,
                  (struct fault){.space = p->space,
                                 .address = p->address,
                                 .window = p->window,
                                 .bytes = bytes,
                                 .is_write = p->writes && o && o->kind == OP_ASYNC});
}

void launch_fail(struct launch *l, enum fault_kind kind)
{
    pthread_mutex_lock(&l->lock);
    if (!l->fault.kind)
        l->fault = (struct fault){.kind = kind, .of_launch = true};
    atomic_store(&l->failed, true);
    pthread_mutex_unlock(&l->lock);
}

/* ---- in words ---- */

enum { MAX_RANGES = 5 };

const char *fault_members(const char *what, uint32_t set, struct arena *arena)
{
    char text[160];
    size_t n = 0;
    if (__builtin_popcount(set & ~(set << 1)) > MAX_RANGES)
        return arena_printf(arena, "%d %ss (0x%08x)", __builtin_popcount(set), what, set);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        if (!(set >> l & 1))
            continue;
        unsigned last = l;
        while (last + 1 < WARP_LANES && set >> (last + 1) & 1)
            last++;
        n += (size_t)snprintf(text + n, sizeof text - n, last > l ? "%s%u-%u" : "%s%u", n ? ", " : "", l, last);
        l = last;
    }
    return arena_printf(arena, "%s%s %s", what, set & (set - 1) ? "s" : "", n ? text : "-");
}

struct place fault_place(const struct ir_insn *at, struct arena *arena)
{
    const struct ptx_insn *i = at ? at->origin : NULL;
    struct place p = i && i->length ? ptx_place(at->module, i->offset, i->length) : (struct place){0};
    p.cuda = at ? ptx_cuda_place(at->module, at->loc, arena) : NULL;
    return p;
}

const char *place_line(const struct place *p, struct arena *arena)
{
    if (p && p->cuda)
        return arena_printf(arena, "%s:%u", file_as_shown(p->cuda->file, arena), p->cuda->line);
    return p && p->source ? arena_printf(arena, "PTX line %u", place_locate(*p).line) : "an unknown place";
}

const char *fault_line(const struct ir_insn *at, struct arena *arena)
{
    struct place p = fault_place(at, arena);
    return place_line(&p, arena);
}

/* Is it a host pointer that was not shared with the machine? */
static bool is_hosts(const struct machine *m, const struct fault *f)
{
    uint64_t start = mem_local_window(&m->mem);
    return f->kind == FAULT_illegal_address && f->space != SPACE_SHARED && f->space != SPACE_LOCAL &&
           f->address - start >= m->mem.reserved_bytes && host_is_there(f->address);
}

static const char hosts_help[] =
    "pass memory from cudaMalloc, cudaMallocManaged, cudaMallocHost or cudaHostRegister; other host memory needs a GPU "
    "with pageable memory access (`heddle run --pageable`, HEDDLE_PAGEABLE=1)";

/* Of an address that no allocation is near. */
static const char *far_away(const struct machine *m, const struct fault *f, const char *unless_hosts)
{
    return is_hosts(m, f) ? "which is host memory" : unless_hosts;
}

const char *fault_buffer(struct machine *m, const struct mem_block *b, bool freed, struct arena *arena)
{
    char origin[512];
    const void *start = (const void *)(uintptr_t)b->start;
    bool hosts = b->kind == MEM_DEVICE && m->config.origin;
    if (hosts && m->config.origin(m->config.print_data, start, freed, origin, sizeof origin))
        return arena_printf(arena, " %s", origin);
    return b->name ? arena_printf(arena, " `%s`", b->name) : "";
}

/* The place of an address relative to the nearest allocation, in words. */
static const char *neighbourhood(struct machine *m, const struct fault *f, struct arena *arena)
{
    struct mem_block b;
    if (f->address < 4096)
        return "a null pointer";
    if (mem_was_freed(&m->mem, f->address, &b))
        return arena_printf(arena, "%llu bytes into a buffer of %llu bytes that was freed%s",
                            (unsigned long long)(f->address - b.start), (unsigned long long)b.size,
                            fault_buffer(m, &b, true, arena));
    if (!mem_nearest(&m->mem, f->address, &b))
        return far_away(m, f, "the machine has no allocations");
    uint64_t end = b.start + b.size;
    const char *name = fault_buffer(m, &b, false, arena);
    const char *what = mem_is_variable(b.kind) ? "variable" : "buffer";
    unsigned long long size = b.size;
    if (f->address >= b.start && f->address < end)
        return arena_printf(arena, "its last %llu bytes are past the end of the %llu-byte %s%s",
                            (unsigned long long)(f->address + f->bytes - end), size, what, name);
    uint64_t distance = f->address >= end ? f->address - end : b.start - f->address;
    if (distance > 64u << 10)
        return far_away(m, f, "no allocation is near");
    const char *side = f->address >= end ? "past the end" : "before the start";
    if (distance == 0)
        return arena_printf(arena, "just %s of the %llu-byte %s%s", side, size, what, name);
    return arena_printf(arena, "%llu bytes %s of the %llu-byte %s%s", (unsigned long long)distance, side, size, what,
                        name);
}

static const char *access_words(const struct fault *f)
{
    return f->is_atomic ? "updates" : f->is_write ? "writes" : "reads";
}

/* FAULT_address_space: names the state space that the instruction cannot access. */
static const char *wrong_space(const struct fault *f, struct arena *arena)
{
    unsigned long long address = f->address;
    enum ir_kind kind = f->at ? (enum ir_kind)f->at->kind : IR_ATOM;
    if (kind == IR_ASYNC || (f->at && ir_is_copy(f->at)))
        return arena_printf(arena, "copies asynchronously to or from %s, which is not possible (address 0x%llx)",
                            f->space == SPACE_SHARED  ? "another block's shared memory"
                            : f->space == SPACE_LOCAL ? "local memory"
                                                      : "global memory",
                            address);
    if (kind == IR_MBARRIER)
        return arena_printf(arena, "uses an mbarrier that is not in shared memory (address 0x%llx)", address);
    if (kind == IR_MATRIX)
        return arena_printf(arena, "%s a row that is not in shared memory (address 0x%llx)", access_words(f), address);
    return arena_printf(arena, "%s %s memory by an instruction for global memory (address 0x%llx)", access_words(f),
                        f->space == SPACE_SHARED ? "shared" : "local", address);
}

/* The machine's own, or the host's. */
static const char *read_only(const struct machine *m, const struct fault *f)
{
    struct mem_block b;
    return mem_find(&m->mem, f->address, &b) ? "constant memory" : "read-only memory";
}

/* Accesses to memory, and what malloc gave; NULL: another fault. */
static const char *describe_access(struct machine *m, const struct fault *f, struct arena *arena)
{
    unsigned long long address = f->address;
    switch (f->kind) {
    case FAULT_illegal_address:
        if (f->space != SPACE_SHARED && f->space != SPACE_LOCAL)
            return arena_printf(arena, "%s %u bytes at 0x%llx, %s", access_words(f), f->bytes, address,
                                neighbourhood(m, f, arena));
        return arena_printf(arena, "%s %u bytes at %s address 0x%llx; %s has %llu bytes", access_words(f), f->bytes,
                            ptx_space_name(f->space), address,
                            f->space == SPACE_SHARED ? "the block's shared memory" : "the thread's local memory",
                            (unsigned long long)f->window);
    case FAULT_misaligned:
        return arena_printf(arena, "%s %u bytes at %s address 0x%llx, which is not a multiple of %u", access_words(f),
                            f->bytes, ptx_space_name(f->space), address, f->bytes);
    case FAULT_beyond_region:
    case FAULT_not_given:
    /* The checker's (check/memory/rules.c). */
    case FAULT_not_permitted: return arena_strdup(arena, f->detail);
    case FAULT_read_only: return arena_printf(arena, "writes to %s at 0x%llx", read_only(m, f), address);
    case FAULT_address_space: return wrong_space(f, arena);
    case FAULT_other_block: return "copies to the shared memory of one block, but names an mbarrier of another";
    case FAULT_block_ended:
        return arena_printf(arena, "accesses the shared memory of block %llu of its cluster, which has ended", address);
    case FAULT_child: return f->detail;
    case FAULT_no_kernel:
        if (f->detail[0]) /* a graph */
            return f->detail;
        return arena_printf(arena, "launches 0x%llx, which is not a kernel", address);
    case FAULT_inside_kernel: return arena_printf(arena, "launches 0x%llx, which is inside a kernel", address);
    case FAULT_no_event: return arena_printf(arena, "uses 0x%llx, which is not an event", address);
    case FAULT_misaligned_handle:
        return arena_printf(arena, "uses 0x%llx, which is neither a kernel nor an event", address);
    case FAULT_no_parameters:
        return arena_printf(arena,
                            "launches with parameters at 0x%llx, which are not from cudaGetParameterBuffer, or have "
                            "been used by another launch",
                            address);
    case FAULT_not_of_heap:
        return arena_printf(arena, "frees 0x%llx, which no cudaMalloc or malloc of a kernel returned", address);
    case FAULT_bad_free: return arena_printf(arena, "frees 0x%llx, which malloc did not return", address);
    default: return NULL;
    }
}

/* Asynchronous copies. */
static const char *describe_copy(const struct fault *f, struct arena *arena)
{
    unsigned long long address = f->address;
    switch (f->kind) {
    case FAULT_async_size:
        return f->at->access->mem.bytes == 16 && f->at->mode != ASYNC_COPY
                   ? arena_printf(arena, "copies %llu bytes in bulk, which is not a multiple of 16", address)
                   : arena_printf(arena, "reads %llu bytes in a copy of %u bytes", address, f->at->access->mem.bytes);
    case FAULT_async_overlap:
        return arena_printf(
            arena, "copies %llu bytes in bulk within shared memory to a destination that overlaps the source", address);
    case FAULT_tensor_map:
        return arena_printf(arena, "copies by a tensor map that cannot be used: %s",
                            (const char *)(uintptr_t)f->address);
    case FAULT_tensor_copy:
        return arena_printf(arena, "copies by a tensor map that does not fit: %s", (const char *)(uintptr_t)f->address);
    default: return NULL;
    }
}

/* Textures and surfaces. */
static const char *describe_texture(struct machine *m, const struct fault *f, struct arena *arena)
{
    unsigned long long value = f->address;
    bool surface = f->at && f->at->kind == IR_TEXTURE && f->at->texture->form.is_surface;
    const char *what = surface ? "surface" : "texture";
    switch (f->kind) {
    case FAULT_no_texture:
        if (texture_find(&m->textures, value, surface ? HANDLE_SURFACE : HANDLE_TEXTURE, TEXTURE_NOW))
            return arena_printf(arena, "uses a %s object of another context, or one that was made after the launch",
                                what);
        return arena_printf(arena, "uses 0x%llx, which is not a valid %s", value, what);
    case FAULT_texture_unbound: return arena_printf(arena, "uses a %s reference to which nothing is bound", what);
    case FAULT_texture_freed:
        return arena_printf(arena, "uses a %s whose memory is not allocated or has been freed, wholly or in part",
                            what);
    case FAULT_texture_shape:
        return arena_printf(arena, "uses a %s of another shape than the instruction's: 1D, 2D, 3D, layers or a cube",
                            what);
    case FAULT_surface_outside:
        return arena_printf(arena, "accesses a surface out of bounds (x is %d)", (int)(int32_t)f->address);
    case FAULT_surface_misaligned:
        return arena_printf(arena, "accesses a surface at byte %d of a row, which is not a multiple of the access size",
                            (int)(int32_t)f->address);
    case FAULT_anisotropy:
        return arena_printf(
            arena, "reads a texture with an anisotropy above 1 by gradients, which Heddle does not support yet");
    default: return NULL;
    }
}

/* Barriers, and operations of several threads. */
static const char *describe_meeting(const struct fault *f, struct arena *arena)
{
    unsigned long long address = f->address;
    switch (f->kind) {
    case FAULT_bad_barrier:
        return arena_printf(
            arena,
            "uses %llu as a barrier number or a thread count: barriers are 0 to 15, thread counts are multiples of 32",
            address);
    case FAULT_mbarrier_count:
        return arena_printf(arena, "gives an mbarrier the count %llu; 1 to 1048575 are possible", address);
    case FAULT_mbarrier_invalid: return "uses an mbarrier that has not been initialised (mbarrier.init)";
    case FAULT_mbarrier_excess:
        return arena_printf(
            arena, "arrives at an mbarrier more often than its phase expects: %llu arrivals are pending", address);
    case FAULT_mbarrier_completes: return "completes a phase of an mbarrier by an arrival with .noComplete";
    case FAULT_mbarrier_transactions:
        return arena_printf(
            arena,
            "counts %llu bytes of transactions at an mbarrier, whose tx-count must stay between -1048575 and 1048575",
            address);
    case FAULT_bad_membermask:
        return arena_printf(arena, "executes a warp operation with mask 0x%08llx, which does not include its own lane",
                            address);
    case FAULT_warpgroup:
        return arena_printf(arena,
                            "executes a product of a warpgroup of 128 threads, but its warpgroup has %llu: make the "
                            "block a multiple of 128",
                            address);
    default: return NULL;
    }
}

/* Where a thread went, and how its launch ended. */
static const char *describe_end(const struct machine *m, const struct fault *f, struct arena *arena)
{
    unsigned long long address = f->address;
    switch (f->kind) {
    case FAULT_stack_overflow: return "has overflowed its stack";
    case FAULT_invalid_pc: return arena_printf(arena, "calls 0x%llx, which is not a function of this type", address);
    case FAULT_bad_branch_index:
        return arena_printf(arena, "branches to entry %llu of a table that is shorter", address);
    case FAULT_trap: return "executes trap";
    case FAULT_breakpoint: return "executes brkpt";
    case FAULT_assertion: return arena_printf(arena, "fails an assertion: %s", f->detail);
    case FAULT_deadlock: return "waits for lanes or threads that will never arrive";
    case FAULT_step_limit:
        return arena_printf(arena, "%s %llu warp instructions, the step limit of a launch",
                            f->of_launch ? "has executed more than" : "is still running after",
                            (unsigned long long)m->config.step_limit);
    case FAULT_timeout:
        return f->of_launch ? "has not ended within its time limit"
                            : "is still running at the time limit of the launch";
    case FAULT_replay: return "does not do what the replayed schedule recorded";
    case FAULT_out_of_memory:
        return arena_printf(arena,
                            "needs more memory for its registers, stacks and shared memory than is left: of the "
                            "machine's %llu bytes, buffers take %llu",
                            (unsigned long long)m->config.memory_bytes, (unsigned long long)m->mem.allocated_bytes);
    default: return NULL;
    }
}

/* The middle of the sentence: what the thread did. */
const char *fault_describe(struct machine *m, const struct fault *f, struct arena *arena)
{
    const char *text = describe_access(m, f, arena);
    text = text ? text : describe_copy(f, arena);
    text = text ? text : describe_texture(m, f, arena);
    text = text ? text : describe_meeting(f, arena);
    text = text ? text : describe_end(m, f, arena);
    return text ? text : "was cancelled";
}

/* What helps, if anything does in general. */
static const char *help_of(const struct machine *m, const struct fault *f)
{
    switch (f->kind) {
    case FAULT_step_limit:
        return "raise the limit for a kernel that needs more: --step-limit, HEDDLE_STEP_LIMIT, "
               "hd_machine_options.step_limit";
    case FAULT_timeout:
        return "allow more time for a kernel that needs it: --timeout, HEDDLE_TIMEOUT, "
               "hd_launch_config.timeout_seconds";
    case FAULT_stack_overflow:
        return "if the recursion ends, give threads more stack: --stack, HEDDLE_STACK, cudaLimitStackSize, "
               "hd_machine_options.stack_bytes";
    case FAULT_out_of_memory:
        return "give the machine more memory (--memory, HEDDLE_MEMORY, hd_machine_options.memory_bytes), or use "
               "smaller stacks or fewer workers";
    case FAULT_misaligned:
        return f->at && f->at->kind == IR_ASYNC && f->at->mode > ASYNC_STORE && f->space == SPACE_SHARED
                   ? "declare it with __align__(16), or __align__(128) for copies by tensor maps"
                   : NULL;
    case FAULT_mbarrier_invalid:
        return "let one thread initialise it (mbarrier.init, or init() of a cuda::barrier), and add a barrier before "
               "other threads use it";
    case FAULT_mbarrier_excess:
        return "give mbarrier.init the number of arrivals of a phase, and wait for each phase before the next arrival";
    case FAULT_mbarrier_transactions: return "wait for the phase before the next expect_tx or copy";
    case FAULT_async_size: return "copy the rest by plain loads and stores, or pad the data";
    case FAULT_async_overlap:
        return "copy to memory that does not overlap, or use loads and stores with a barrier between them";
    case FAULT_tensor_map:
        return "fill it by cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col, and pass it as a const __grid_constant__ "
               "parameter or in global memory";
    case FAULT_no_texture:
        return "pass a value that cudaCreateTextureObject or cudaCreateSurfaceObject has returned, and destroy the "
               "object after its last launch";
    case FAULT_texture_unbound:
        return "bind it before the launch: cudaBindTexture, cuTexRefSetArray, cuSurfRefSetArray";
    case FAULT_texture_freed: return "free arrays and memory after the last launch that reads them has ended";
    case FAULT_surface_outside:
        return "x counts bytes, not elements; cudaBoundaryModeZero and cudaBoundaryModeClamp allow accesses outside";
    case FAULT_surface_misaligned: return "x counts bytes: multiply it by the size of an element";
    case FAULT_anisotropy: return "give the texture a maxAnisotropy of 0 or 1, or have it read a level (tex2DLod)";
    case FAULT_other_block: return "name the mbarrier at the same place in the block that gets the bytes (mapa)";
    case FAULT_block_ended: return "let all blocks of the cluster wait at barrier.cluster before they end";
    default: return is_hosts(m, f) ? hosts_help : NULL;
    }
}

void fault_report(struct machine *m, const struct kernel *k, const struct fault *f, struct diags *diags)
{
    const char *thread = arena_printf(diags->arena, ": thread (%u,%u,%u) of block (%u,%u,%u)", f->thread[0],
                                      f->thread[1], f->thread[2], f->block[0], f->block[1], f->block[2]);
    const struct ptx_func *func = k->func;
    /* Else before its first instruction. */
    struct place place = f->at ? fault_place(f->at, diags->arena)
                               : ptx_place(func->module, func->symbol.offset, (uint32_t)func->symbol.name.n);
    diag_error(diags, place, faults[f->kind].code, help_of(m, f), "kernel `%s`%s %s",
               demangle(func->symbol.name, diags->arena), f->of_launch ? "" : thread,
               fault_describe(m, f, diags->arena));
}
