/* Masks of lanes before code generation: hides masks that are computed from masks, and replaces
 * masks by comparisons on CPUs without mask registers; see passes.h. */
#include "jit/passes/passes.h"

#include <string.h>

enum { LANES = 32 };

static LLVMTypeRef lanes_type(LLVMValueRef mask)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(mask));
    return LLVMVectorType(LLVMInt1TypeInContext(context), LANES);
}

LLVMValueRef pass_opaque_mask(LLVMBuilderRef b, LLVMValueRef mask)
{
    LLVMTypeRef own = LLVMTypeOf(mask), type = LLVMFunctionType(own, &own, 1, false);
    LLVMValueRef same = LLVMGetInlineAsm(type, "", 0, "=r,0", 4, false, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(b, type, same, &mask, 1, "");
}

static bool is_made_lanes(LLVMValueRef mask)
{
    for (LLVMUseRef use = LLVMGetFirstUse(mask); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsABitCastInst(user) && LLVMTypeOf(user) == lanes_type(mask))
            return true;
    }
    return LLVMIsConstant(mask);
}

/* Could LLVM's combiner see it as a mask that is converted to lanes? It simplifies bottom-up, so
 * the total depth does not matter. */
static bool is_of_lanes(LLVMValueRef mask, int depth)
{
    if (is_made_lanes(mask))
        return true;
    LLVMOpcode code = LLVMIsAInstruction(mask) ? LLVMGetInstructionOpcode(mask) : LLVMRet;
    return depth > 0 && (code == LLVMAnd || code == LLVMOr || code == LLVMXor) &&
           is_of_lanes(LLVMGetOperand(mask, 0), depth - 1) && is_of_lanes(LLVMGetOperand(mask, 1), depth - 1);
}

/* The mask that is converted to lanes here, or NULL. */
static LLVMValueRef mask_made_lanes(LLVMValueRef lanes)
{
    LLVMValueRef mask = LLVMIsABitCastInst(lanes) ? LLVMGetOperand(lanes, 0) : NULL;
    return mask && LLVMTypeOf(lanes) == lanes_type(mask) ? mask : NULL;
}

static bool is_mask_of_masks(LLVMValueRef lanes)
{
    enum { DEPTH = 4 };
    LLVMValueRef mask = mask_made_lanes(lanes);
    if (!mask || !LLVMIsAInstruction(mask))
        return false;
    LLVMOpcode code = LLVMGetInstructionOpcode(mask);
    return (code == LLVMOr || code == LLVMXor) && is_of_lanes(LLVMGetOperand(mask, 0), DEPTH) &&
           is_of_lanes(LLVMGetOperand(mask, 1), DEPTH);
}

void pass_hide_masks(LLVMBuilderRef b, LLVMValueRef fn)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(fn); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (is_mask_of_masks(i)) {
                LLVMPositionBuilderBefore(b, i);
                LLVMSetOperand(i, 0, pass_opaque_mask(b, LLVMGetOperand(i, 0)));
            }
}

/* ---- comparisons ---- */

/* The mask bit for each of n elements; LANES: none, the element is false. */
struct bits {
    unsigned n;
    unsigned of[LANES];
};

static bool calls(LLVMValueRef i, const char *name)
{
    size_t n;
    LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    return callee && LLVMIsAFunction(callee) && strncmp(LLVMGetValueName2(callee, &n), name, strlen(name)) == 0;
}

static bool is_logic(LLVMValueRef i)
{
    LLVMOpcode code = LLVMIsAInstruction(i) ? LLVMGetInstructionOpcode(i) : LLVMRet;
    return code == LLVMAnd || code == LLVMOr || code == LLVMXor || code == LLVMFreeze;
}

static unsigned element_width(LLVMTypeRef vector)
{
    LLVMTypeRef type = LLVMGetElementType(vector);
    switch (LLVMGetTypeKind(type)) {
    case LLVMFloatTypeKind: return 32;
    case LLVMDoubleTypeKind:
    case LLVMPointerTypeKind: return 64;
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type);
    default: return 0;
    }
}

/* The width of the elements that the lanes select, move or become; for lanes computed from lanes,
 * that of their users. 0: no width that vectors of numbers have. */
static unsigned width_for(LLVMValueRef user, LLVMValueRef lanes, int depth)
{
    unsigned width = 0;
    if ((LLVMIsASelectInst(user) && LLVMGetOperand(user, 0) == lanes) || LLVMIsASExtInst(user) ||
        LLVMIsAZExtInst(user) || calls(user, "llvm.masked.load"))
        width = element_width(LLVMTypeOf(user));
    else if (calls(user, "llvm.masked.store"))
        width = element_width(LLVMTypeOf(LLVMGetOperand(user, 0)));
    else if (is_logic(user) && depth > 0)
        for (LLVMUseRef use = LLVMGetFirstUse(user); use && !width; use = LLVMGetNextUse(use))
            width = width_for(LLVMGetUser(use), user, depth - 1);
    return width == 8 || width == 16 || width == 32 || width == 64 ? width : 0;
}

/* A vector with elements of `width` bits, each with the mask's bit for that element at position `of
 * % width`. */
static LLVMValueRef spread(LLVMBuilderRef b, LLVMValueRef mask, unsigned width, const struct bits *x)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(mask));
    LLVMTypeRef element = LLVMIntTypeInContext(context, width), i32 = LLVMInt32TypeInContext(context);
    unsigned parts = width < LANES ? LANES / width : 1;
    LLVMTypeRef type = LLVMVectorType(element, parts);
    LLVMValueRef number = width > LANES ? LLVMBuildZExt(b, mask, element, "") : mask, index[LANES];
    LLVMValueRef first = parts > 1 ? LLVMBuildBitCast(b, number, type, "")
                                   : LLVMBuildInsertElement(b, LLVMGetPoison(type), number, LLVMConstNull(i32), "");
    for (unsigned k = 0; k < x->n; k++)
        index[k] = LLVMConstInt(i32, x->of[k] < LANES ? x->of[k] / width % parts : 0, false);
    return LLVMBuildShuffleVector(b, first, LLVMGetPoison(type), LLVMConstVector(index, x->n), "");
}

static LLVMValueRef compare_bits(LLVMBuilderRef b, LLVMValueRef mask, unsigned width, const struct bits *x)
{
    LLVMTypeRef element = LLVMIntTypeInContext(LLVMGetTypeContext(LLVMTypeOf(mask)), width);
    LLVMValueRef bit[LANES];
    for (unsigned k = 0; k < x->n; k++)
        bit[k] = LLVMConstInt(element, x->of[k] < LANES ? 1ull << x->of[k] % width : 0, false);
    LLVMValueRef both = LLVMBuildAnd(b, spread(b, mask, width, x), LLVMConstVector(bit, x->n), "");
    return LLVMBuildICmp(b, LLVMIntNE, both, LLVMConstNull(LLVMTypeOf(both)), "");
}

/* The bits of lanes that come from a part of a mask, or a permutation of it; false for anything
 * else. */
static bool find_shuffled(LLVMValueRef shuffle, LLVMValueRef lanes, const struct bits *x, struct bits *of)
{
    if (!LLVMIsAShuffleVectorInst(shuffle) || LLVMGetOperand(shuffle, 0) != lanes ||
        !LLVMIsConstant(LLVMGetOperand(shuffle, 1)) || LLVMGetNumMaskElements(shuffle) > LANES ||
        !(LLVMIsNull(LLVMGetOperand(shuffle, 1)) || LLVMIsUndef(LLVMGetOperand(shuffle, 1))))
        return false;
    of->n = LLVMGetNumMaskElements(shuffle);
    for (unsigned k = 0; k < of->n; k++) {
        int from = LLVMGetMaskValue(shuffle, k);
        of->of[k] = from >= 0 && (unsigned)from < x->n ? x->of[from] : LANES;
    }
    return true;
}

/* Converts it at each user, so that it stays a vector of numbers: between blocks lanes have one
 * byte each. */
static void spread_for_users(LLVMBuilderRef b, LLVMValueRef mask, LLVMValueRef lanes, const struct bits *x)
{
    enum { DEPTH = 4 };
    struct bits shuffled;
    for (LLVMUseRef use = LLVMGetFirstUse(lanes), next; use; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        for (next = use; next && LLVMGetUser(next) == user;)
            next = LLVMGetNextUse(next);
        if (find_shuffled(user, lanes, x, &shuffled)) {
            spread_for_users(b, mask, user, &shuffled);
            continue;
        }
        unsigned width = width_for(user, lanes, DEPTH);
        if (!width)
            continue;
        LLVMPositionBuilderBefore(b, user);
        LLVMValueRef compared = compare_bits(b, mask, width, x);
        for (int k = 0; k < LLVMGetNumOperands(user); k++)
            if (LLVMGetOperand(user, (unsigned)k) == lanes)
                LLVMSetOperand(user, (unsigned)k, compared);
    }
}

void pass_spread_masks(LLVMBuilderRef b, LLVMValueRef fn)
{
    struct bits all = {.n = LANES};
    for (unsigned k = 0; k < LANES; k++)
        all.of[k] = k;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(fn); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (mask_made_lanes(i) && !LLVMIsConstant(LLVMGetOperand(i, 0)))
                spread_for_users(b, LLVMGetOperand(i, 0), i, &all);
        }
}
