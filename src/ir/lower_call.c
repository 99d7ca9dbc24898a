/* Calls, parameters of functions that are registers, and registers outside of functions: values
 * that pass through a thread's memory (PTX ISA 7.1, 9.7.12.4); see builder.h. */
#include "base/text.h"
#include "ir/builder.h"
#include "isa/lane_ids.h"

/* ---- values in memory ---- */

/* What passes through a thread's memory: as many values of a type as a register or a vector
 * register has. */
struct passed {
    uint32_t at; /* in the frame, or in the storage of a register outside of functions */
    struct ptx_var *storage;
    enum isa_type type;
    unsigned n;
    ir_ref values[4];
};

/* The access by which they stand there; a predicate is a byte, 0 or 1. */
static struct ir_access *passing_access(struct builder *b, const struct passed *p)
{
    unsigned bytes = p->type == TYPE_pred ? 1 : isa_type_bits(p->type) / 8;
    struct ir_access *a = ir_new_access(b, SPACE_LOCAL, bytes, p->n);
    a->mem.frame = !p->storage;
    if (p->storage)
        a->disp_const = ir_symbol_place(b, &p->storage->symbol, 0, 64);
    a->mem.sign = isa_type_class(p->type) == CLASS_S;
    a->disp = p->at;
    memcpy(a->regs, p->values, p->n * sizeof *a->regs);
    return a;
}

static struct ir_access *passing_store(struct builder *b, struct passed *p)
{
    if (p->type == TYPE_pred)
        p->values[0] = ir_lanes(b, LANE_selp_b16, ir_const_of(b, 16, 1), ir_const_of(b, 16, 0), p->values[0]);
    return passing_access(b, p);
}

/* Loads by an instruction that `emit` makes, ir_emit or ir_emit_guarded. */
static void passing_load(struct builder *b, struct passed *p, struct ir_insn *emit(struct builder *, enum ir_kind))
{
    ir_ref predicate = p->type == TYPE_pred ? p->values[0] : REF_NONE;
    if (predicate)
        p->values[0] = ir_temp(b, 16);
    emit(b, IR_LD)->access = passing_access(b, p);
    if (!predicate)
        return;
    struct ir_insn *i = emit(b, IR_LANES);
    i->lane = LANE_cmp_b16_ne;
    i->d = predicate;
    i->a = p->values[0];
    i->b = ir_const_of(b, 16, 0);
}

/* Of a register that an operand of a call is. */
static struct passed passed_register(struct builder *b, const struct ptx_operand *o, enum isa_type type, uint32_t at)
{
    struct passed p = {.at = at, .type = type, .n = ptx_n_elements(o)};
    if (p.n > 1)
        p.type = o->reg->type;
    for (unsigned k = 0; k < p.n; k++) {
        struct ptx_operand e = ptx_element(o, k);
        p.values[k] = ir_named_reg(b, &e);
    }
    return p;
}

/* A constant that is an argument is its low bits, but for .f32. */
static struct passed passed_argument(struct builder *b, const struct ptx_operand *o, enum isa_type type, uint32_t at)
{
    if (o->kind == OPND_REG)
        return passed_register(b, o, type, at);
    bool raw = o->kind == OPND_FLOAT && type != TYPE_f32;
    ir_ref value = raw ? ir_const_of(b, ir_width(type), o->bits) : ir_source(b, o, type);
    return (struct passed){.at = at, .type = type, .n = 1, .values = {value}};
}

/* ---- calls ---- */

/* Where an argument stands in the frame: a .param variable's place, or a new place for a register
 * or constant. */
static uint32_t argument_place(struct builder *b, const struct ptx_operand *o, const struct ptx_var *param, bool store)
{
    if (o->kind == OPND_SYMBOL && o->symbol->kind == SYMBOL_VAR)
        return ir_add_frame_var(b, (struct ptx_var *)o->symbol);
    uint32_t bytes = param->size < 4 ? 4 : (uint32_t)param->size;
    uint32_t at = ir_add_frame_bytes(b, bytes, bytes > 16 ? 16 : bytes);
    if (store) {
        struct passed p = passed_argument(b, o, param->type, at);
        ir_emit_access(b, IR_ST, REF_NONE, passing_store(b, &p));
    }
    return at;
}

/* What the machine itself does for kernels; the sizes are those of result and parameters. */
enum { MOST_SYSCALL_PARAMS = 8 };
static const struct syscall {
    const char *name;
    bool nested; /* without `__cudaCDP2` or `cuda` */
    uint8_t result_bytes, param_bytes[MOST_SYSCALL_PARAMS];
} syscalls[] = {
    [SYSCALL_NONE] = {"", false, 0, {0}},
#define SYSCALL(id, name, bytes, ...)    [SYSCALL_##id] = {name, false, bytes, {__VA_ARGS__}},
#define NESTED(id, name, bytes, ...)     [SYSCALL_##id] = {name, true, bytes, {__VA_ARGS__}},
#define OWN_STREAM(id, name, bytes, ...) [SYSCALL_##id##_PTSZ] = {name, true, bytes, {__VA_ARGS__}},
#include "ir/syscalls.def"
#undef SYSCALL
#undef NESTED
#undef OWN_STREAM
};

/* Without the prefix by which a function is the device runtime's; empty where it has none. */
static struct str nested_name(struct str name)
{
    static const char *const prefixes[] = {"__cudaCDP2", "cuda"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (str_starts(name, prefixes[i]))
            return (struct str){name.p + strlen(prefixes[i]), name.n - strlen(prefixes[i])};
    return (struct str){NULL, 0};
}

static enum ir_syscall syscall_by_name(struct str name)
{
    struct str nested = nested_name(name);
    for (size_t i = SYSCALL_NONE + 1; i < sizeof syscalls / sizeof syscalls[0]; i++)
        if (str_is(syscalls[i].nested ? nested : name, syscalls[i].name))
            return (enum ir_syscall)i;
    return SYSCALL_NONE;
}

/* Engines read its parameters and write its result by the sizes that they have. */
static bool is_declared_so(const struct ptx_signature *s, const struct syscall *c)
{
    bool ok = s->returns.n == (c->result_bytes > 0) &&
              (!c->result_bytes || s->returns.at[0]->size == c->result_bytes) && s->params.n <= MOST_SYSCALL_PARAMS;
    for (uint32_t i = 0; i < MOST_SYSCALL_PARAMS && ok; i++)
        ok = (i < s->params.n ? s->params.at[i]->size : 0) == c->param_bytes[i];
    return ok;
}

static const char *declaration(struct builder *b, struct str name, const struct syscall *c)
{
    struct text t = {.arena = b->arena};
    text_puts(&t, "it is `.extern .func ");
    if (c->result_bytes)
        text_printf(&t, "(.param .b%u result) ", c->result_bytes * 8u);
    text_printf(&t, "%.*s(", STR_ARG(name));
    for (uint32_t i = 0; i < MOST_SYSCALL_PARAMS && c->param_bytes[i]; i++) {
        unsigned bytes = c->param_bytes[i];
        const char *comma = i ? ", " : "";
        if (bytes <= 8)
            text_printf(&t, "%s.param .b%u p%u", comma, bytes * 8, i);
        else
            text_printf(&t, "%s.param .b8 p%u[%u]", comma, i, bytes);
    }
    text_puts(&t, ")`");
    return t.p;
}

/* Of CDP1, which sm_90 and CUDA 12 have no more. */
static bool refuse_join(struct builder *b, struct str name)
{
    bool joins = str_is(name, "cudaDeviceSynchronize") || str_is(name, "__cudaDeviceSynchronizeDeprecationAvoidance");
    if (joins)
        build_error(b, "not-supported",
                    "launch the work that follows them into cudaStreamTailLaunch: it runs when they are complete",
                    "a kernel cannot wait for its child kernels: devices from sm_90 on have no `cudaDeviceSynchronize` "
                    "in device code (CUDA Dynamic Parallelism 1)");
    return joins;
}

static bool find_callee(struct builder *b, const struct ptx_call *c, struct ir_call *call, ir_ref *address)
{
    if (c->callee.kind != OPND_SYMBOL || c->callee.symbol->kind != SYMBOL_FUNC) {
        *address = ir_source(b, &c->callee, TYPE_u64);
        return true;
    }
    struct ptx_func *f = ((struct ptx_func *)c->callee.symbol)->definition;
    if (f->has_body) {
        call->callee = f;
        *VEC_PUSH(b->arena, &b->f->callees) = f;
        return true;
    }
    struct str name = f->symbol.name;
    call->syscall = syscall_by_name(name);
    if (call->syscall && !is_declared_so(&f->signature, &syscalls[call->syscall])) {
        build_error(b, "ptx-call", declaration(b, name, &syscalls[call->syscall]),
                    "`%.*s` is declared with other parameters or results than CUDA gives it", STR_ARG(name));
        return false;
    }
    if (!call->syscall && !refuse_join(b, name))
        build_error(b, "ptx-link", "give the module that defines it, too", "function `%.*s` is not defined",
                    STR_ARG(name));
    return call->syscall != SYSCALL_NONE;
}

static void load_result(struct builder *b, const struct ptx_operand *o, const struct ptx_var *result, uint32_t at)
{
    if (o->kind != OPND_REG)
        return;
    struct passed p = passed_register(b, o, result->type, at);
    passing_load(b, &p, ir_emit_guarded);
}

void lower_call(struct builder *b)
{
    const struct ptx_call *c = b->insn->call;
    const struct ptx_signature *s = ptx_signature_of(c);
    struct ir_call *call = ARENA_NEW(b->arena, struct ir_call);
    ir_ref address = REF_NONE;
    if (!s) {
        build_error(b, "ptx-call", "add a .callprototype or .calltargets list",
                    "an indirect call needs to know its parameters");
        return;
    }
    if (!find_callee(b, c, call, &address))
        return;
    if (s->variadic && !call->syscall) {
        build_error(b, "not-supported", NULL, "calls with a variable number of parameters are not supported");
        return;
    }
    if (c->n_args != s->params.n || c->n_returns != s->returns.n) {
        build_error(b, "ptx-call", NULL, "the function takes %u parameters and returns %u, not %u and %u", s->params.n,
                    s->returns.n, c->n_args, c->n_returns);
        return;
    }
    for (uint32_t i = 0; i < c->n_args; i++)
        *VEC_PUSH(b->arena, &call->params) =
            (struct ir_copy){argument_place(b, &c->args[i], s->params.at[i], true), (uint32_t)s->params.at[i]->size};
    for (uint32_t i = 0; i < c->n_returns; i++)
        *VEC_PUSH(b->arena, &call->results) = (struct ir_copy){
            argument_place(b, &c->returns[i], s->returns.at[i], false), (uint32_t)s->returns.at[i]->size};
    struct ir_insn *i = ir_emit_guarded(b, IR_CALL);
    i->a = address;
    i->call = call;
    ir_cut(b);
    for (uint32_t k = 0; k < c->n_returns; k++)
        load_result(b, &c->returns[k], s->returns.at[k], call->results.at[k].caller_at);
}

void lower_register_params(struct builder *b, bool at_start)
{
    const struct ptx_signature *s = &b->func->signature;
    uint32_t n = b->func->entry ? 0 : at_start ? s->params.n : s->returns.n;
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_var *v = at_start ? s->params.at[i] : s->returns.at[i];
        if (v->space != SPACE_REG)
            continue;
        struct passed p = {.at = ir_frame_offset(b->f, v), .type = v->type, .n = v->vector};
        for (unsigned k = 0; k < p.n; k++)
            p.values[k] = ir_reg_of(b, v->reg, v->reg->first + k);
        if (at_start) {
            passing_load(b, &p, ir_emit);
        } else {
            struct ir_access *stored = passing_store(b, &p); /* which emits, too */
            ir_emit(b, IR_ST)->access = stored;
        }
    }
}

/* ---- registers outside of functions ---- */

static void pass_outer(struct builder *b, const struct ptx_reg *reg, uint32_t number, bool load)
{
    unsigned bytes = (isa_type_bits(reg->type) + 7) / 8;
    struct passed p = {.at = (number - reg->first) * bytes, .storage = reg->storage, .type = reg->type, .n = 1};
    p.values[0] = ir_reg_of(b, reg, number);
    if (load) {
        passing_load(b, &p, ir_emit);
    } else {
        struct ir_access *stored = passing_store(b, &p);
        ir_emit_guarded(b, IR_ST)->access = stored;
    }
}

static void pass_outer_of(struct builder *b, const struct ptx_operand *o, bool load)
{
    if (o->kind == OPND_VECTOR || o->kind == OPND_PAIR || o->kind == OPND_MEM)
        for (unsigned k = 0; k < o->n; k++)
            pass_outer_of(b, &o->elems[k], load);
    if (o->kind != OPND_REG || !o->reg->storage)
        return;
    for (unsigned k = 0; k < ptx_n_elements(o); k++) {
        struct ptx_operand e = ptx_element(o, k);
        pass_outer(b, o->reg, e.number + (e.component == COMPONENT_NONE ? 0 : e.component), load);
    }
}

/* Does it write its first operand and not read it? A fragment may be read, too. */
static bool first_is_result(const struct ptx_insn *in)
{
    const struct isa_operand *first = &in->inst->operand[0];
    bool named = in->inst->n_operands && (first->kind == OPERAND_DST || first->kind == OPERAND_DPRED);
    return in->n_operands && (named || in->inst->kind == KIND_MOV);
}

void lower_outer_registers(struct builder *b, bool load)
{
    const struct ptx_insn *in = b->insn;
    const struct ptx_call *c = in->call;
    if (!b->module->n_registers)
        return;
    bool result = first_is_result(in), fragment = in->inst->kind == KIND_MATRIX;
    if (load && in->guard && in->guard->storage)
        pass_outer(b, in->guard, in->guard_number, true);
    for (unsigned k = 0; k < in->n_operands; k++)
        if (load ? k || !result : !k && (result || fragment))
            pass_outer_of(b, &in->operands[k], load);
    for (uint32_t k = 0; c && load && k < c->n_args; k++)
        pass_outer_of(b, &c->args[k], true);
    for (uint32_t k = 0; c && !load && k < c->n_returns; k++)
        pass_outer_of(b, &c->returns[k], false);
    if (c && load)
        pass_outer_of(b, &c->callee, true);
}
