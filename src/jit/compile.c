/* See compile.h. Only a few of LLVM's passes run, because the emitted code is nearly final: they
 * promote allocas to values, fold constants, and remove what is not used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "base/text.h"
#include "ir/text.h"
#include "jit/analysis/lane_library.h"
#include "jit/compile.h"
#include "jit/emit/emit.h"
#include "jit/passes/passes.h"

static const char first_passes[] = "function(simplifycfg,sroa,early-cse)";
static const char other_passes[] = "function(simplifycfg,instcombine<no-verify-fixpoint>,early-cse,simplifycfg,adce)";

/* Options of LLVM that depend on tier and size. */
struct effort {
    enum jit_tier tier; /* 0: nothing was compiled yet */
    bool is_large;      /* in the second tier */
};

/* State that is kept from one request to the next. */
static struct session {
    const struct jit_target *target;
    LLVMContextRef context;
    LLVMTargetMachineRef machine;
    struct lane_library *lanes;
    struct effort effort;
} session;

static LLVMTargetMachineRef new_target_machine(const struct jit_target *t)
{
    LLVMTargetRef target;
    char *message = NULL;
    if (LLVMGetTargetFromTriple(t->triple, &target, &message)) {
        LLVMDisposeMessage(message);
        return NULL;
    }
    return LLVMCreateTargetMachine(target, t->triple, t->cpu, t->features, LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                   LLVMCodeModelSmall);
}

/* A process has one CPU level: each machine of a program has its own compiler. */
static bool open_session(struct str name)
{
    if (!session.target && (session.target = jit_target_find(name))) {
        session.context = LLVMContextCreate();
        session.machine = new_target_machine(session.target);
        session.lanes = lane_library_open(session.context, session.target);
    }
    return session.target && str_is(name, session.target->name) && session.machine && session.lanes;
}

/* Calls of the engine, in rarely executed code, clobber all vector registers. The register
 * allocator then searches for regions around these calls in which a value can stay in its register
 * (region splitting), in a time that is quadratic in the number of blocks. Without that, values
 * stay in memory there, and code takes up to twice as long. In functions where it would take more
 * than some seconds, even the second tier, which nobody waits for, does without. */
static bool is_large(LLVMModuleRef module)
{
    for (value fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        if (LLVMCountBasicBlocks(fn) > LIMIT_split_blocks)
            return true;
    return false;
}

/* What the first tier leaves out takes a quarter of the time of code generation, and makes code 5
 * to 10 % faster: region splitting; machine LICM and CSE, which LLVM's IR passes have done; both
 * schedulers, since these CPUs execute out of order; and CodeGenPrepare, whose addressing modes
 * come out alike. Addresses advance by additions already, as in PTX: what loop strength reduction
 * adds makes some kernels a tenth faster, and takes up to a quarter of the second tier's time. */
static const char *const first_tier[] = {"heddle-jit",
                                         "-grow-region-complexity-budget=1",
                                         "-disable-lsr=true",
                                         "-disable-cgp=true",
                                         "-disable-machine-licm=true",
                                         "-disable-machine-cse=true",
                                         "-pre-RA-sched=source",
                                         "-enable-misched=false"};
static const char *const second_tier[] = {"heddle-jit",
                                          "-grow-region-complexity-budget=10000",
                                          "-disable-lsr=false",
                                          "-disable-cgp=false",
                                          "-disable-machine-licm=false",
                                          "-disable-machine-cse=false",
                                          "-pre-RA-sched=default",
                                          "-enable-misched=true"};
static const char *const second_tier_large[] = {"heddle-jit", "-grow-region-complexity-budget=1"};

#define PARSE(options) LLVMParseCommandLineOptions(sizeof(options) / sizeof *(options), options, "")

static void choose_effort(struct effort effort)
{
    if (session.effort.tier == effort.tier && session.effort.is_large == effort.is_large)
        return;
    if (effort.tier == TIER_FIRST)
        PARSE(first_tier);
    else
        PARSE(second_tier);
    if (effort.is_large)
        PARSE(second_tier_large);
    session.effort = effort;
}

static void make_types(struct code_module *m)
{
    LLVMContextRef c = m->context;
    m->i1 = LLVMInt1TypeInContext(c);
    m->i8 = LLVMInt8TypeInContext(c);
    m->i16 = LLVMInt16TypeInContext(c);
    m->i32 = LLVMInt32TypeInContext(c);
    m->i64 = LLVMInt64TypeInContext(c);
    m->ptr = LLVMPointerTypeInContext(c, 0);
    m->void_type = LLVMVoidTypeInContext(c);
}

static void emit_functions(struct emit *e, const struct jit_request *r)
{
    char name[512];
    for (uint32_t i = 0; i < r->n_functions; i++) {
        if (!r->shapes[i].regs)
            continue;
        struct str f = r->functions[i]->func->symbol.name;
        struct function fn = {.request = r, .target = session.target, .lanes = session.lanes, .arena = e->arena};
        function_analyse(&fn, i);
        snprintf(name, sizeof name, JIT_FUNCTION_NAME, i, STR_ARG(f));
        emit_function(e, &fn, name);
        snprintf(name, sizeof name, JIT_SERIAL_NAME, r->n_functions + i, STR_ARG(f));
        emit_serial(e, &fn, name);
    }
}

/* Returns machine code, or assembly with a zero behind it; NULL with *error. Changes the module. */
static char *make_code(LLVMTargetMachineRef tm, LLVMModuleRef module, LLVMCodeGenFileType kind, size_t *bytes,
                       char **error)
{
    LLVMMemoryBufferRef buffer = NULL;
    char *message = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(tm, module, kind, &message, &buffer)) {
        free(*error);
        *error = strdup(message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    *bytes = LLVMGetBufferSize(buffer);
    char *code = calloc(1, *bytes + 1);
    if (code)
        memcpy(code, LLVMGetBufferStart(buffer), *bytes);
    LLVMDisposeMemoryBuffer(buffer);
    return code;
}

static char *print(LLVMModuleRef module)
{
    char *s = LLVMPrintModuleToString(module), *copy = strdup(s);
    LLVMDisposeMessage(s);
    return copy;
}

static bool run_passes(LLVMTargetMachineRef tm, LLVMModuleRef module, const char *passes, char **error)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failed = LLVMRunPasses(module, passes, tm, options);
    LLVMDisposePassBuilderOptions(options);
    if (failed) {
        char *text = LLVMGetErrorMessage(failed);
        *error = strdup(text);
        LLVMDisposeErrorMessage(text);
    }
    return !failed;
}

static bool verify(LLVMModuleRef module, char **error)
{
    char *message = NULL;
    if (!getenv("HEDDLE_VERIFY") || !LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
        return true;
    *error = strdup(message);
    LLVMDisposeMessage(message);
    return false;
}

static bool optimise(LLVMTargetMachineRef tm, LLVMModuleRef module, char **error)
{
    if (!verify(module, error) || !run_passes(tm, module, first_passes, error))
        return false;
    for (value fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        if (!LLVMIsDeclaration(fn))
            pass_relax_nans(fn);
    return verify(module, error) && run_passes(tm, module, other_passes, error);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compile_module(struct emit *e, const struct jit_request *r, LLVMTargetMachineRef tm,
                           const struct wire_ask *ask, struct jit_result *result)
{
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(tm);
    LLVMSetModuleDataLayout(e->m->module, layout);
    LLVMDisposeTargetData(layout);
    char *triple = LLVMGetTargetMachineTriple(tm);
    LLVMSetTarget(e->m->module, triple);
    LLVMDisposeMessage(triple);
    double start = now();
    emit_functions(e, r);
    double emitted = now();
    result->n_inline_caches = e->n_inline_caches;
    result->emit_seconds = emitted - start;
    if (!ask->object && !ask->llvm && !ask->assembly) /* the requested dumps need no more */
        return;
    if (!optimise(tm, e->m->module, &result->error))
        return;
    for (value fn = LLVMGetFirstFunction(e->m->module); fn; fn = LLVMGetNextFunction(fn)) {
        if (ask->tier == TIER_SECOND)
            pass_forward_stores(e->m->b, fn, session.target->costs->vector_bits);
        pass_sink_nans(e->m->b, fn);
        pass_hide_masks(e->m->b, fn);
    }
    for (value fn = LLVMGetFirstFunction(e->m->module); fn && !session.target->has_mask_registers;
         fn = LLVMGetNextFunction(fn))
        pass_spread_masks(e->m->b, fn);
    double optimised = now();
    choose_effort((struct effort){ask->tier, ask->tier == TIER_SECOND && is_large(e->m->module)});
    if (ask->llvm)
        result->llvm = print(e->m->module);
    if (ask->assembly) {
        size_t bytes;
        LLVMModuleRef copy = LLVMCloneModule(e->m->module);
        result->assembly = make_code(tm, copy, LLVMAssemblyFile, &bytes, &result->error);
        LLVMDisposeModule(copy);
    }
    if (ask->object)
        result->object = (uint8_t *)make_code(tm, e->m->module, LLVMObjectFile, &result->bytes, &result->error);
    result->pass_seconds = optimised - emitted;
    result->code_seconds = now() - optimised;
}

/* Finds the shapes of all functions; false if the kernel itself, the first, cannot be compiled. */
static bool find_shapes(struct jit_request *r, struct arena *arena)
{
    struct ir_shapes *shapes = ARENA_ARRAY(arena, struct ir_shapes, r->n_functions);
    r->shapes = shapes;
    for (uint32_t i = 0; i < r->n_functions; i++)
        if (r->functions[i] && !ir_find_shapes(r->functions[i], r->block, arena, &shapes[i])) {
            shapes[i] = (struct ir_shapes){.regs = NULL};
            if (i == 0)
                return false;
        }
    return r->n_functions > 0;
}

static char *print_ir(const struct jit_request *r, struct arena *arena)
{
    struct text t = {.arena = arena};
    for (uint32_t i = 0; i < r->n_functions; i++)
        if (r->shapes[i].regs)
            text_str(&t, ir_print_shapes(r->functions[i], &r->shapes[i], arena));
    return strdup(t.p);
}

static void emit_module(struct jit_request *r, const struct wire_ask *ask, struct arena *arena,
                        struct jit_result *result)
{
    const char *name = arena_strndup(arena, r->name.p, r->name.n);
    struct code_module m = {.context = session.context,
                            .module = LLVMModuleCreateWithNameInContext(name, session.context),
                            .b = LLVMCreateBuilderInContext(session.context)};
    make_types(&m);
    struct emit e = {.m = &m, .arena = arena};
    compile_module(&e, r, session.machine, ask, result);
    LLVMDisposeBuilder(m.b);
    LLVMDisposeModule(m.module);
}

static char *unknown_target(struct str name)
{
    char text[256];
    int n = snprintf(text, sizeof text, "the compiler makes no code for the CPU level `%.*s`; it knows",
                     (int)(name.n < 64 ? name.n : 64), name.p);
    for (size_t i = 0; i < n_jit_targets; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %s", i ? "," : "", jit_targets[i].name);
    return strdup(text);
}

void jit_compile(struct jit_request *r, const struct wire_ask *ask, struct arena *arena, struct jit_result *result)
{
    double start = now();
    *result = (struct jit_result){0};
    if (!open_session(r->level)) {
        result->error = unknown_target(r->level);
    } else if (!find_shapes(r, arena)) {
        result->error = strdup("it has too many branches");
    } else {
        result->shape_seconds = now() - start;
        emit_module(r, ask, arena, result);
        result->ir = ask->ir ? print_ir(r, arena) : NULL; /* with the decisions that were made */
    }
}

void jit_compile_init(void)
{
#define START(family)                                                                                                  \
    LLVMInitialize##family##TargetInfo();                                                                              \
    LLVMInitialize##family##Target();                                                                                  \
    LLVMInitialize##family##TargetMC();                                                                                \
    LLVMInitialize##family##AsmPrinter();
    START(X86)
    START(AArch64)
#undef START
    /* This pass examines all pairs of mask instructions, of which a warp has many: for a kernel of
     * 1,149 instructions it took 26 of 29 s, without a visible gain. */
    static const char *const options[] = {"heddle-jit", "-disable-x86-domain-reassignment"};
    LLVMParseCommandLineOptions(2, options, "");
}
