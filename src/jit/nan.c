/* NaNs between arithmetic: f32 instructions give one NaN whatever they were given (isa/sem_float.h), so what becomes of
 * a NaN on its way from one into the next cannot be seen. Where a canonical value is an operand of arithmetic whose
 * result is made canonical itself, the plain result serves as well, and the step between them goes: in a chain of
 * multiply-adds it is more than half of the time.
 */
#include "jit/emit.h"

#include <stdlib.h>
#include <string.h>

static value strip_casts(value v)
{
    while (LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMBitCast)
        v = LLVMGetOperand(v, 0);
    return v;
}

static bool is_f32(LLVMTypeRef t)
{
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind)
        t = LLVMGetElementType(t);
    return LLVMGetTypeKind(t) == LLVMFloatTypeKind;
}

/* The number of operands where `v` adds, subtracts, multiplies or does both at once in f32; else 0. */
static unsigned arithmetic_operands(value v)
{
    if (!LLVMIsAInstruction(v) || !is_f32(LLVMTypeOf(v)))
        return 0;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul: return 2;
    case LLVMCall: {
        size_t n;
        value callee = LLVMGetCalledValue(v);
        return LLVMIsAFunction(callee) && strncmp(LLVMGetValueName2(callee, &n), "llvm.fma.", 9) == 0 ? 3 : 0;
    }
    default: return 0;
    }
}

static bool is_unordered(value v, value of)
{
    return LLVMIsAFCmpInst(v) && LLVMGetFCmpPredicate(v) == LLVMRealUNO && LLVMGetOperand(v, 0) == of &&
           (LLVMGetOperand(v, 1) == of || LLVMIsConstant(LLVMGetOperand(v, 1)));
}

static bool is_nan(value v)
{
    if (!LLVMIsConstant(v))
        return false;
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind)
        v = LLVMGetAggregateElement(v, 0); /* the others are the same */
    LLVMBool loses;
    double d = v && LLVMIsAConstantFP(v) ? LLVMConstRealGetDouble(v, &loses) : 0;
    return d != d;
}

/* x of `x is a NaN ? the canonical NaN : x`, or NULL. */
static value canonical_of(value v)
{
    if (!LLVMIsASelectInst(v) || !is_f32(LLVMTypeOf(v)) || !is_nan(LLVMGetOperand(v, 1)))
        return NULL;
    value x = LLVMGetOperand(v, 2);
    return is_unordered(LLVMGetOperand(v, 0), x) ? x : NULL;
}

/* Is the result used for nothing but to be made canonical? */
static bool becomes_canonical(value v)
{
    bool selected = false;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        value user = LLVMGetUser(u);
        if (canonical_of(user) == v)
            selected = true;
        else if (!is_unordered(user, v))
            return false;
    }
    return selected;
}

struct found {
    value *at;
    size_t n, capacity;
};

static bool add(struct found *f, value v)
{
    if (f->n == f->capacity) {
        f->capacity = f->capacity ? 2 * f->capacity : 64;
        value *more = realloc(f->at, f->capacity * sizeof *more);
        if (!more)
            return false;
        f->at = more;
    }
    f->at[f->n++] = v;
    return true;
}

void relax_nans(value fn)
{
    struct found f = {0};
    bool ok = true;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b && ok; b = LLVMGetNextBasicBlock(b))
        for (value i = LLVMGetFirstInstruction(b); i && ok; i = LLVMGetNextInstruction(i))
            if (arithmetic_operands(i) && becomes_canonical(i))
                ok = add(&f, i);
    for (size_t k = 0; k < f.n && ok; k++)
        for (unsigned o = 0; o < arithmetic_operands(f.at[k]); o++) {
            value x = canonical_of(strip_casts(LLVMGetOperand(f.at[k], o)));
            if (x && LLVMTypeOf(x) == LLVMTypeOf(f.at[k]))
                LLVMSetOperand(f.at[k], o, x);
        }
    free(f.at);
}
