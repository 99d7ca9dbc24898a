/* The head of a function: loads values of its launch, block and warp; see emit.h. */
#include "jit/emit/emit.h"

#include <string.h>

/* Values that do not change while the function runs: a member of a record, and where it is kept. */
struct constant {
    value *to, *base;
    uint64_t offset;
    const char *name;
    bool is_count; /* an i32 instead of a pointer */
};

/* Loads them in order, because the base of one may be the result of an earlier one. */
static void load_constants(struct emit *e, const struct constant *all, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        LLVMTypeRef type = all[k].is_count ? e->m->i32 : e->m->ptr;
        *all[k].to = LLVMBuildLoad2(e->m->b, type, emit_pointer_at(e, *all[k].base, all[k].offset), all[k].name);
        emit_mark_invariant(e, *all[k].to);
    }
}

#define LOAD_CONSTANTS(e, all) load_constants((e), (all), sizeof(all) / sizeof *(all))

void emit_context(struct emit *e, struct code_function *f)
{
    for (unsigned k = 0; k < 5; k++) {
        f->scratch[k] = emit_alloca(e, LLVMArrayType2(e->m->i8, 512));
        LLVMSetAlignment(f->scratch[k], 64);
    }
    f->seeds = emit_alloca(e, LLVMArrayType2(e->m->i64, MAX_SEEDS));
    value code, kernel;
    const struct constant constants[] = {
        {&code, &e->warp.a, abi.activation_code, "code", false},
        {&e->warp.base[ROW_CONST], &code, abi.code_consts, "consts", false},
        {&f->of.block, &e->warp.w, abi.warp_block, "block", false},
        {&e->warp.base[ROW_BLOCK], &f->of.block, abi.block_sregs, "block_rows", false},
        {&f->of.ops, &code, abi.code_ops, "ops", false},
        {&f->of.launch, &f->of.block, abi.block_launch, "launch", false},
        {&f->of.worker, &f->of.block, abi.block_worker, "worker", false},
        {&f->of.shared, &f->of.block, abi.block_shared, "shared", false},
        {&f->of.shared_bytes, &f->of.launch, abi.launch_shared_bytes, "shared_bytes", true},
        {&f->of.params, &f->of.launch, abi.launch_params, "params", false},
        {&kernel, &f->of.launch, abi.launch_kernel, "kernel", false},
        {&f->of.local_bytes, &kernel, abi.kernel_local_ready_bytes, "local_bytes", true},
        {&f->of.inline_caches, &f->of.worker, abi.worker_inline_caches, "inline_caches", false},
    };
    LOAD_CONSTANTS(e, constants);
    value phase = emit_load_field(e, e->m->i32, f->of.block, abi.block_phase);
    f->of.lockstep = LLVMBuildICmp(e->m->b, LLVMIntULE, phase, const_i32(e, BLOCK_RESUMED), "lockstep");
}

void emit_warp(struct emit *e)
{
    const struct constant constants[] = {
        {&e->warp.base[ROW_FRAME], &e->warp.a, abi.activation_rows, "rows", false},
        {&e->warp.base[ROW_WARP], &e->warp.w, abi.warp_sregs, "warp_rows", false},
        {&e->warp.local, &e->warp.w, abi.warp_local, "local", false},
        {&e->warp.frame, &e->warp.a, abi.activation_frame, "frame", true},
    };
    LOAD_CONSTANTS(e, constants);
}

static void set_attributes(struct emit *e)
{
    static const char *const by_name[][2] = {
        {"prefer-vector-width", "512"}, {"min-legal-vector-width", "512"}, {"no-trapping-math", "true"}};
    for (size_t k = 0; k < sizeof by_name / sizeof by_name[0]; k++) {
        LLVMAttributeRef a = LLVMCreateStringAttribute(e->m->context, by_name[k][0], (unsigned)strlen(by_name[k][0]),
                                                       by_name[k][1], (unsigned)strlen(by_name[k][1]));
        LLVMAddAttributeAtIndex(e->f->llvm_fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, a);
    }
    static const struct {
        const char *name;
        uint64_t value;
    } by_kind[] = {{"nounwind", 0}, {"uwtable", 1}}; /* tables for debuggers: jit/host/gdb.c */
    for (size_t k = 0; k < sizeof by_kind / sizeof by_kind[0]; k++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(by_kind[k].name, strlen(by_kind[k].name));
        LLVMAddAttributeAtIndex(e->f->llvm_fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(e->m->context, kind, by_kind[k].value));
    }
}

static void make_registers(struct emit *e)
{
    const struct ir_shapes *s = e->fn->shapes;
    e->regs = ARENA_ARRAY(e->arena, value, (size_t)e->fn->ir->regs.n * MAX_PIECES);
    for (uint32_t r = 1; r < e->fn->ir->regs.n; r++) {
        unsigned width = e->fn->ir->regs.at[r].width;
        LLVMTypeRef type = s->regs[r] == SHAPE_DIVERGENT ? vector_of_width(e, width) : type_of_width(e, width);
        for (unsigned p = 0; p < fn_pieces(e->fn, s->regs[r]); p++)
            e->regs[(size_t)r * MAX_PIECES + p] = emit_alloca(e, type);
    }
}

void emit_declare(struct emit *e, const struct function *fn, const struct lanes_mode *mode, struct code_function *f,
                  const char *name)
{
    LLVMTypeRef params[5] = {e->m->ptr, e->m->ptr, e->m->i32, e->m->i32, e->m->ptr};
    LLVMTypeRef type = LLVMFunctionType(e->m->i32, params, 5, false);
    e->fn = fn;
    e->mode = mode;
    e->f = f;
    e->block = ARENA_ARRAY(e->arena, LLVMBasicBlockRef, fn->ir->n_ordered);
    f->lane_offsets = ARENA_ARRAY(e->arena, value, fn->shapes->lane_offsets.n);
    f->llvm_fn = LLVMAddFunction(e->m->module, name, type);
    e->warp.w = LLVMGetParam(f->llvm_fn, 0);
    e->warp.a = LLVMGetParam(f->llvm_fn, 1);
    f->calls = LLVMGetParam(f->llvm_fn, 4);
    e->lanes = (struct lanes){.place = 0};
    f->inline_caches = inline_caches_begin(e);
    set_attributes(e);
    f->entry = emit_new_block(e, "start");
    f->fault = emit_new_block(e, "fault");
    emit_at_end(e, f->entry);
    make_registers(e);
}
