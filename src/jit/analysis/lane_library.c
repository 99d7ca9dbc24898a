/* The lane functions of src/isa as bitcode, and which of them can be copied; see lane_library.h,
 * lane_function.c. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/BitReader.h>

#include "jit/analysis/lane_library.h"
#include "isa/lane_ids.h"
#include "jit/costs.h"
#include "jit/target.h"

/* Groups of lane functions, each a module, with the CPU level that it is compiled for: v4 on AMD's
 * processors, except for approximate functions. */
#define GROUPS(X, level, mufu_level)                                                                                   \
    X(level, int)                                                                                                      \
    X(level, float) X(level, half) X(level, cvt) X(mufu_level, mufu) X(level, misc) X(level, sm100) X(level, video)
#define GROUPS_v2(X)     GROUPS(X, v2, v2)
#define GROUPS_v3(X)     GROUPS(X, v3, v3)
#define GROUPS_v4(X)     GROUPS(X, v4, v4)
#define GROUPS_v4_amd(X) GROUPS(X, v4, v4_amd)
#define GROUPS_neon(X)   GROUPS(X, neon, neon)
enum {
#define X(level, group) GROUP_##group,
    GROUPS(X, _, _) N_GROUPS
#undef X
};

/* Made by the build: scripts/embed-bitcode. */
#define DECLARE(level, group)                                                                                          \
    extern const char jit_lanes_##level##_##group[], jit_lanes_##level##_##group##_end[],                              \
        jit_lane_##level##_##group[], jit_lane_##level##_##group##_end[];
#define MODULES(level, group)                                                                                          \
    {jit_lanes_##level##_##group, jit_lanes_##level##_##group##_end, jit_lane_##level##_##group,                       \
     jit_lane_##level##_##group##_end},
GROUPS(DECLARE, v2, v2)
GROUPS(DECLARE, v3, v3)
GROUPS(DECLARE, v4, v4)
DECLARE(v4_amd, mufu)
GROUPS(DECLARE, neon, neon)

struct bitcode {
    const char *lanes, *lanes_end, *lane, *lane_end;
};

static const struct level {
    const char *name;
    bool gathers; /* whether a function with table look-ups is copied */
    struct bitcode group[N_GROUPS];
} levels[] = {
#define TARGET(name, bitcode, triple, cpu, features, mask_registers, masked_stores, gathers, waits, store_order,       \
               whole_elements, whole_bytes, prefetches_near)                                                           \
    {name, gathers, {GROUPS_##bitcode(MODULES)}},
#include "jit/targets.def"
#undef TARGET
};

static const uint8_t group_of[LANE_COUNT] = {
#define LANE(name, D, E, A, B, C, is, unit, expr) [LANE_##name] = GROUP,
#define MASK(name, A, B, expr)                    [LANE_##name] = GROUP,
#define SAME(name, as)
#define GROUP GROUP_int
#include "isa/lanes_int.def"
#undef GROUP
#define GROUP GROUP_float
#include "isa/lanes_float.def"
#undef GROUP
#define GROUP GROUP_half
#include "isa/lanes_half.def"
#undef GROUP
#define GROUP GROUP_cvt
#include "isa/lanes_cvt.def"
#undef GROUP
#define GROUP GROUP_mufu
#include "isa/lanes_mufu.def"
#undef GROUP
#define GROUP GROUP_misc
#include "isa/lanes_misc.def"
#undef GROUP
#define GROUP GROUP_sm100
#include "isa/lanes_sm100.def"
#undef GROUP
#define GROUP GROUP_video
#include "isa/lanes_video.def"
#undef GROUP
#undef LANE
#undef MASK
#undef SAME
};

/* Functions with table look-ups, which go lane by lane if the CPU cannot gather. */
static const bool by_tables[LANE_COUNT] = {
#define LANE(name, D, E, A, B, C, is, unit, expr)
#define SAME(name, as)
#define BELOW(name, D, table, place, expr) [LANE_##name] = true,
#include "isa/lanes_mufu.def"
#undef BELOW
#undef LANE
#undef SAME
};

static const char *const names[LANE_COUNT] = {
    "",
#define LANE(name, D, E, A, B, C, is, unit, expr) "lanes_" #name,
#include "isa/lanes.def"
#undef LANE
};

enum verdict { UNKNOWN, COPIED, CALLED };

struct lane_library {
    LLVMContextRef context;
    const struct level *level;
    const struct jit_costs *costs;
    LLVMModuleRef modules[2][N_GROUPS]; /* for 32 lanes, for one; loaded on first use */
    uint8_t verdict[2][LANE_COUNT];     /* enum verdict */
};

static LLVMModuleRef parse(LLVMContextRef context, const char *from, const char *to)
{
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(from, (size_t)(to - from), "lanes", false);
    LLVMModuleRef module = NULL;
    if (LLVMGetBitcodeModuleInContext2(context, buffer, &module)) {
        LLVMDisposeMemoryBuffer(buffer);
        return NULL;
    }
    return module; /* the buffer is the module's */
}

/* Reads the body of a function. Modules are loaded lazily, without bodies: reading all of them
 * takes longer than compiling a small kernel. A pass manager materialises the function that it runs
 * on; this one has no passes. */
static void read_body(LLVMModuleRef module, LLVMValueRef fn)
{
    LLVMPassManagerRef no_passes = LLVMCreateFunctionPassManagerForModule(module);
    LLVMRunFunctionPassManager(no_passes, fn);
    LLVMDisposePassManager(no_passes);
}

static LLVMModuleRef module_of(struct lane_library *l, int single, uint16_t lane)
{
    LLVMModuleRef *m = &l->modules[single][group_of[lane]];
    const struct bitcode *b = &l->level->group[group_of[lane]];
    if (!*m)
        *m = single ? parse(l->context, b->lane, b->lane_end) : parse(l->context, b->lanes, b->lanes_end);
    return *m;
}

struct lane_library *lane_library_open(LLVMContextRef context, const struct jit_target *target)
{
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        struct lane_library *l = strcmp(target->name, levels[i].name) == 0 ? calloc(1, sizeof *l) : NULL;
        if (!l)
            continue;
        l->context = context;
        l->level = &levels[i];
        l->costs = target->costs;
        return l;
    }
    return NULL;
}

static bool is_intrinsic(LLVMValueRef callee)
{
    return LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee) != 0;
}

bool lane_insn_calls(LLVMValueRef i, const char *name)
{
    size_t n;
    LLVMValueRef callee = LLVMGetInstructionOpcode(i) == LLVMCall ? LLVMGetCalledValue(i) : NULL;
    return callee && LLVMIsAFunction(callee) && strncmp(LLVMGetValueName2(callee, &n), name, strlen(name)) == 0;
}

bool lane_insn_loads_row(LLVMValueRef i)
{
    return (LLVMGetInstructionOpcode(i) == LLVMLoad || lane_insn_calls(i, "llvm.masked.load")) &&
           LLVMIsAArgument(LLVMGetOperand(i, 0));
}

static bool uses_memory(LLVMValueRef i)
{
    int n = LLVMGetNumOperands(i) - (LLVMGetInstructionOpcode(i) == LLVMCall ? 1 : 0);
    for (int k = 0; k < n; k++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, (unsigned)k))) == LLVMPointerTypeKind)
            return true;
    return false;
}

static bool is_table(LLVMValueRef v)
{
    return LLVMIsAGlobalVariable(v) && LLVMIsGlobalConstant(v) && LLVMGetInitializer(v);
}

static bool can_copy_insn(LLVMValueRef i, bool gathers)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    if (op == LLVMAlloca || op == LLVMSwitch || op == LLVMUnreachable)
        return false;
    if (op == LLVMGetElementPtr)
        return is_table(LLVMGetOperand(i, 0));
    if (op == LLVMLoad && LLVMIsAGetElementPtrInst(LLVMGetOperand(i, 0)))
        return true;
    if (lane_insn_calls(i, "llvm.masked.gather"))
        return gathers && LLVMIsAGetElementPtrInst(LLVMGetOperand(i, 0));
    if (lane_insn_calls(i, "llvm.assume") || lane_insn_loads_row(i))
        return true;
    if (op == LLVMStore)
        return LLVMIsAArgument(LLVMGetOperand(i, 1)) != NULL;
    return !uses_memory(i) && (op != LLVMCall || is_intrinsic(LLVMGetCalledValue(i)));
}

/* The bits of a vector; other types cost little. */
static unsigned bits_of(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return 0;
    LLVMTypeRef element = LLVMGetElementType(type);
    LLVMTypeKind kind = LLVMGetTypeKind(element);
    unsigned each = kind == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(element) : kind == LLVMFloatTypeKind ? 32 : 64;
    return LLVMGetVectorSize(type) * each;
}

static bool can_copy(const struct lane_library *l, LLVMValueRef fn, unsigned most, unsigned most_bits)
{
    unsigned n = 0, bits = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            bits += bits_of(LLVMTypeOf(i));
            if (!can_copy_insn(i, l->level->gathers) || ++n > most || bits > most_bits)
                return false;
        }
    return n > 0;
}

LLVMValueRef lane_library_find(struct lane_library *l, int single, uint16_t lane)
{
    LLVMModuleRef module = module_of(l, single, lane);
    LLVMValueRef fn = module ? LLVMGetNamedFunction(module, names[lane]) : NULL;
    if (!fn)
        return NULL;
    if (l->verdict[single][lane] == UNKNOWN) {
        read_body(module, fn);
        unsigned most = by_tables[lane] ? LIMIT_lane_function_by_tables : LIMIT_lane_function;
        unsigned most_bits = by_tables[lane] ? UINT_MAX : l->costs->lane_function_bits;
        l->verdict[single][lane] = can_copy(l, fn, most, most_bits) ? COPIED : CALLED;
    }
    return l->verdict[single][lane] == COPIED ? fn : NULL;
}

unsigned lane_library_size(struct lane_library *l, uint16_t lane)
{
    LLVMValueRef fn = lane_library_find(l, 1, lane);
    unsigned n = 0;
    for (LLVMBasicBlockRef b = fn ? LLVMGetFirstBasicBlock(fn) : NULL; b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            n++;
    return n;
}

/* Is it `x is a NaN ? a number : x`? */
static bool is_canonical(LLVMValueRef v)
{
    if (!LLVMIsASelectInst(v) || !LLVMIsConstant(LLVMGetOperand(v, 1)))
        return false;
    LLVMValueRef test = LLVMGetOperand(v, 0), one = LLVMGetAggregateElement(LLVMGetOperand(v, 1), 0);
    LLVMBool loses;
    bool is_float = one && LLVMIsAConstantFP(one) && LLVMGetTypeKind(LLVMTypeOf(one)) == LLVMFloatTypeKind;
    double d = is_float ? LLVMConstRealGetDouble(one, &loses) : 0;
    return d != d && LLVMIsAFCmpInst(test) && LLVMGetFCmpPredicate(test) == LLVMRealUNO &&
           LLVMGetOperand(test, 0) == LLVMGetOperand(v, 2);
}

bool lane_library_is_canonical(struct lane_library *l, uint16_t lane)
{
    LLVMValueRef fn = lane_library_find(l, 0, lane);
    bool stores = false;
    for (LLVMBasicBlockRef b = fn ? LLVMGetFirstBasicBlock(fn) : NULL; b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (LLVMGetInstructionOpcode(i) != LLVMStore)
                continue;
            stores = true;
            if (!is_canonical(LLVMGetOperand(i, 0)))
                return false;
        }
    return stores;
}
