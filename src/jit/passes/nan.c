/* NaNs between arithmetic: f32 instructions return one NaN whatever NaN they were given
 * (isa/sem_float.h), so a NaN's payload between two of them is not observable. If a canonicalised
 * value is an operand of arithmetic whose result is canonicalised itself, the plain result can be
 * used, and the step between them disappears; in a chain of multiply-adds it is more than half of
 * the time. If a value is carried around a loop, the plain one is carried beside it or instead of
 * it, and canonicalised where the loop is left. lane_function.c freezes a value to say that any NaN
 * is allowed there.
 */
#include "jit/passes/passes.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static LLVMValueRef strip_casts(LLVMValueRef v)
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

/* The number of operands if `v` is an f32 addition, subtraction, multiplication, multiply-add or
 * negation; else 0. */
static unsigned arithmetic_operands(LLVMValueRef v)
{
    if (!LLVMIsAInstruction(v) || !is_f32(LLVMTypeOf(v)))
        return 0;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMFNeg: return 1;
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul: return 2;
    case LLVMCall: {
        size_t n;
        LLVMValueRef callee = LLVMGetCalledValue(v);
        return LLVMIsAFunction(callee) && strncmp(LLVMGetValueName2(callee, &n), "llvm.fma.", 9) == 0 ? 3 : 0;
    }
    default: return 0;
    }
}

static bool is_freeze(LLVMValueRef v)
{
    return LLVMGetInstructionOpcode(v) == LLVMFreeze && is_f32(LLVMTypeOf(v));
}

/* Operands that may be any NaN: of arithmetic, and of freeze. */
static unsigned relaxed_operands(LLVMValueRef v)
{
    return is_freeze(v) ? 1 : arithmetic_operands(v);
}

static bool is_unordered(LLVMValueRef v, LLVMValueRef of)
{
    return LLVMIsAFCmpInst(v) && LLVMGetFCmpPredicate(v) == LLVMRealUNO && LLVMGetOperand(v, 0) == of &&
           (LLVMGetOperand(v, 1) == of || LLVMIsConstant(LLVMGetOperand(v, 1)));
}

static bool is_nan(LLVMValueRef v)
{
    if (!LLVMIsConstant(v))
        return false;
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind)
        v = LLVMGetAggregateElement(v, 0); /* the others are the same */
    LLVMBool loses;
    double d = v && LLVMIsAConstantFP(v) ? LLVMConstRealGetDouble(v, &loses) : 0;
    return d != d;
}

static LLVMValueRef canonical_of(LLVMValueRef v);

/* Does `test` test whether x is a NaN? LLVM tests what x negates, and the value before its
 * canonicalisation. */
static bool tests(LLVMValueRef test, LLVMValueRef x)
{
    if (is_unordered(test, x))
        return true;
    if (!LLVMIsAInstruction(x) || LLVMGetInstructionOpcode(x) != LLVMFNeg)
        return false;
    LLVMValueRef negated = LLVMGetOperand(x, 0), plain = canonical_of(negated);
    return is_unordered(test, negated) || (plain && is_unordered(test, plain));
}

/* x of `x is a NaN ? the canonical NaN : x`, or NULL. */
static LLVMValueRef canonical_of(LLVMValueRef v)
{
    if (!LLVMIsASelectInst(v) || !is_f32(LLVMTypeOf(v)) || !is_nan(LLVMGetOperand(v, 1)))
        return NULL;
    LLVMValueRef x = LLVMGetOperand(v, 2), test = LLVMGetOperand(v, 0);
    return tests(test, x) ? x : NULL;
}

/* Is the result only used by its canonicalisation? */
static bool becomes_canonical(LLVMValueRef v)
{
    bool selected = false;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (canonical_of(user) == v)
            selected = true;
        else if (!is_unordered(user, v))
            return false;
    }
    return selected;
}

struct found {
    LLVMValueRef *at;
    size_t n, capacity;
};

static bool add(struct found *f, LLVMValueRef v)
{
    LLVMValueRef *new = VEC_ADD(f);
    if (new)
        *new = v;
    return new;
}

/* ---- rare blocks ---- */

enum { COLD_DEPTH = 4 };

/* Does the branch at the end of a block rarely go to `to`, by the branch
 * weights of emit_likely()? */
static bool goes_rarely(LLVMValueRef branch, LLVMBasicBlockRef to)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(branch));
    unsigned kind = LLVMGetMDKindIDInContext(context, "prof", 4);
    LLVMValueRef weights = LLVMGetMetadata(branch, kind), of[3];
    if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch) || !weights || LLVMGetMDNodeNumOperands(weights) != 3)
        return false;
    LLVMGetMDNodeOperands(weights, of);
    unsigned other = LLVMGetSuccessor(branch, 0) == to ? 2 : 1, own = 3 - other;
    return LLVMGetSuccessor(branch, own - 1) == to && LLVMGetSuccessor(branch, other - 1) != to &&
           LLVMConstIntGetZExtValue(of[own]) < LLVMConstIntGetZExtValue(of[other]);
}

/* Is a block rarely reached, from each of its predecessors? */
static bool is_cold(LLVMBasicBlockRef block, int depth)
{
    bool comes = false;
    for (LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef from = LLVMGetUser(u);
        if (!goes_rarely(from, block) && (depth == 0 || !is_cold(LLVMGetInstructionParent(from), depth - 1)))
            return false;
        comes = true;
    }
    return comes;
}

/* ---- around loops ---- */

enum { MAX_PHIS = 256 };

/* Phis, and plain ones that may replace them in arithmetic. */
struct phis {
    unsigned n;
    LLVMValueRef at[MAX_PHIS], plain[MAX_PHIS];
    bool useful[MAX_PHIS]; /* some incoming value is canonicalised */
};

static bool is_phi(LLVMValueRef v)
{
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMPHI;
}

static unsigned find(const struct phis *p, LLVMValueRef v)
{
    unsigned k = 0;
    while (k < p->n && p->at[k] != v)
        k++;
    return k;
}

/* Adds a phi, and all phis that lead to it. */
static void gather(struct phis *p, LLVMValueRef v)
{
    if (find(p, v) < p->n || p->n == MAX_PHIS)
        return;
    p->at[p->n++] = v;
    for (unsigned k = 0; k < LLVMCountIncoming(v); k++) {
        LLVMValueRef from = strip_casts(LLVMGetIncomingValue(v, k));
        if (is_phi(from))
            gather(p, from);
    }
}

static void find_useful(struct phis *p)
{
    bool changed;
    do {
        changed = false;
        for (unsigned i = 0; i < p->n; i++)
            for (unsigned k = 0; k < LLVMCountIncoming(p->at[i]) && !p->useful[i]; k++) {
                LLVMValueRef from = strip_casts(LLVMGetIncomingValue(p->at[i], k));
                unsigned other = find(p, from);
                p->useful[i] = canonical_of(from) || (other < p->n && p->useful[other]);
                changed |= p->useful[i];
            }
    } while (changed);
}

/* The f32 type with as many bits; NULL if there is none. */
static LLVMTypeRef f32_type(LLVMTypeRef t)
{
    bool lanes = LLVMGetTypeKind(t) == LLVMVectorTypeKind;
    LLVMTypeRef one = lanes ? LLVMGetElementType(t) : t, f32 = LLVMFloatTypeInContext(LLVMGetTypeContext(t));
    if (is_f32(t))
        return t;
    if (LLVMGetTypeKind(one) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(one) != 32)
        return NULL;
    return lanes ? LLVMVectorType(f32, LLVMGetVectorSize(t)) : f32;
}

static LLVMValueRef plain_incoming(const struct phis *p, LLVMBuilderRef b, LLVMValueRef v, LLVMBasicBlockRef block,
                                   LLVMTypeRef type)
{
    LLVMValueRef from = strip_casts(v), x = canonical_of(from);
    unsigned other = find(p, from);
    x = other < p->n ? p->plain[other] : x;
    if (x && LLVMTypeOf(x) == type)
        return x;
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(block));
    return LLVMBuildBitCast(b, v, type, "");
}

static void make_plain(struct phis *p, LLVMBuilderRef b)
{
    for (unsigned i = 0; i < p->n; i++) {
        LLVMTypeRef type = f32_type(LLVMTypeOf(p->at[i]));
        LLVMPositionBuilderBefore(b, p->at[i]);
        p->plain[i] = p->useful[i] && type ? LLVMBuildPhi(b, type, "") : NULL;
    }
    for (unsigned i = 0; i < p->n; i++)
        for (unsigned k = 0; p->plain[i] && k < LLVMCountIncoming(p->at[i]); k++) {
            LLVMBasicBlockRef block = LLVMGetIncomingBlock(p->at[i], k);
            LLVMValueRef v = plain_incoming(p, b, LLVMGetIncomingValue(p->at[i], k), block, LLVMTypeOf(p->plain[i]));
            LLVMAddIncoming(p->plain[i], &v, &block, 1);
        }
}

/* ---- where loops are left ---- */

/* Are all incoming values canonical? */
static bool is_canonical_phi(const struct phis *p, unsigned i, const bool *canonical)
{
    for (unsigned k = 0; k < LLVMCountIncoming(p->at[i]); k++) {
        LLVMValueRef from = strip_casts(LLVMGetIncomingValue(p->at[i], k));
        unsigned other = find(p, from);
        if (!canonical_of(from) && !LLVMIsNull(from) && !LLVMIsUndef(from) && !(other < p->n && canonical[other]))
            return false;
    }
    return true;
}

/* The number of uses of replaced phis' values in blocks that are not rare. */
static unsigned count_hot_uses(const struct phis *p, LLVMValueRef v, const bool *replaced)
{
    unsigned n = 0;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        unsigned other = find(p, user);
        if (LLVMGetInstructionOpcode(user) == LLVMBitCast) {
            n += count_hot_uses(p, user, replaced);
        } else if (!is_phi(user)) {
            n += !is_cold(LLVMGetInstructionParent(user), COLD_DEPTH);
        } else if (other == p->n || !replaced[other]) {
            for (unsigned k = 0; k < LLVMCountIncoming(user); k++)
                n += LLVMGetIncomingValue(user, k) == v && !is_cold(LLVMGetIncomingBlock(user, k), COLD_DEPTH);
        }
    }
    return n;
}

/* Finds phis that plain ones can replace, with canonicalisation at their uses: all incoming values
 * are canonical, and at most one use is in a block that is not rare, so that no more values are
 * canonicalised than before. */
static void find_replaced(const struct phis *p, bool *replaced)
{
    bool changed;
    for (unsigned i = 0; i < p->n; i++)
        replaced[i] = p->plain[i] != NULL;
    do {
        changed = false;
        for (unsigned i = 0; i < p->n; i++)
            if (replaced[i] && !is_canonical_phi(p, i, replaced)) {
                replaced[i] = false;
                changed = true;
            }
    } while (changed);
    do {
        changed = false;
        for (unsigned i = 0; i < p->n; i++)
            if (replaced[i] && count_hot_uses(p, p->at[i], replaced) > 1) {
                replaced[i] = false;
                changed = true;
            }
    } while (changed);
}

static LLVMValueRef make_canonical(LLVMBuilderRef b, LLVMValueRef plain, LLVMTypeRef type)
{
    LLVMTypeRef t = LLVMTypeOf(plain), i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(t));
    LLVMValueRef one = LLVMConstInt(i32, 0x7fffffff, false), lanes[64];
    unsigned n = LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetVectorSize(t) : 0;
    for (unsigned l = 0; l < n; l++)
        lanes[l] = one;
    LLVMValueRef nan = LLVMConstBitCast(n ? LLVMConstVector(lanes, n) : one, t);
    LLVMValueRef test = LLVMBuildFCmp(b, LLVMRealUNO, plain, LLVMConstNull(t), "");
    return LLVMBuildBitCast(b, LLVMBuildSelect(b, test, nan, plain, ""), type, "");
}

/* Makes a user of v, the canonicalised `plain`, use that instead. */
static void use_plain(LLVMBuilderRef b, LLVMValueRef user, LLVMValueRef v, LLVMValueRef plain)
{
    unsigned n = (unsigned)LLVMGetNumOperands(user);
    LLVMValueRef own = NULL;
    LLVMPositionBuilderBefore(b, user);
    for (unsigned k = 0; k < n; k++) {
        if (LLVMGetOperand(user, k) != v)
            continue;
        if (is_phi(user)) { /* a phi has one value per predecessor */
            LLVMBasicBlockRef block = LLVMGetIncomingBlock(user, k);
            unsigned same = 0;
            while (same < k && LLVMGetIncomingBlock(user, same) != block)
                same++;
            own = same < k ? LLVMGetOperand(user, same) : NULL;
            LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(block));
        }
        own = own ? own : make_canonical(b, plain, LLVMTypeOf(v));
        LLVMSetOperand(user, k, own);
    }
}

static bool replace_uses(LLVMBuilderRef b, const struct phis *p, LLVMValueRef v, LLVMValueRef plain,
                         const bool *replaced)
{
    struct found users = {0};
    bool ok = true;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u && ok; u = LLVMGetNextUse(u))
        ok = add(&users, LLVMGetUser(u));
    for (size_t k = 0; k < users.n && ok; k++) {
        unsigned other = find(p, users.at[k]);
        if (LLVMGetInstructionOpcode(users.at[k]) == LLVMBitCast)
            ok = replace_uses(b, p, users.at[k], plain, replaced);
        else if (other == p->n || !replaced[other])
            use_plain(b, users.at[k], v, plain);
    }
    free(users.at);
    return ok;
}

/* The operands of arithmetic `f` that are phis. */
static void find_phis(const struct found *f, struct phis *p)
{
    p->n = 0;
    memset(p->useful, 0, sizeof p->useful);
    for (size_t k = 0; k < f->n; k++)
        for (unsigned o = 0; o < arithmetic_operands(f->at[k]); o++) {
            LLVMValueRef from = strip_casts(LLVMGetOperand(f->at[k], o));
            if (is_phi(from))
                gather(p, from);
        }
}

static void relax_phis(LLVMValueRef fn, const struct found *f)
{
    struct phis p;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(fn)));
    bool replaced[MAX_PHIS];
    find_phis(f, &p);
    find_useful(&p);
    make_plain(&p, b);
    for (size_t k = 0; k < f->n; k++)
        for (unsigned o = 0; o < arithmetic_operands(f->at[k]); o++) {
            unsigned i = find(&p, strip_casts(LLVMGetOperand(f->at[k], o)));
            if (i < p.n && p.plain[i] && LLVMTypeOf(p.plain[i]) == LLVMTypeOf(f->at[k]))
                LLVMSetOperand(f->at[k], o, p.plain[i]);
        }
    find_replaced(&p, replaced);
    bool ok = true;
    for (unsigned i = 0; i < p.n && ok; i++)
        ok = !replaced[i] || replace_uses(b, &p, p.at[i], p.plain[i], replaced);
    for (unsigned i = 0; i < p.n && ok; i++)
        if (replaced[i]) {
            LLVMReplaceAllUsesWith(p.at[i], LLVMGetPoison(LLVMTypeOf(p.at[i])));
            LLVMInstructionEraseFromParent(p.at[i]);
        }
    LLVMDisposeBuilder(b);
}

void pass_relax_nans(LLVMValueRef fn)
{
    struct found f = {0};
    bool ok = true;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b && ok; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && ok; i = LLVMGetNextInstruction(i))
            if (is_freeze(i) || (arithmetic_operands(i) && becomes_canonical(i)))
                ok = add(&f, i);
    for (size_t k = 0; k < f.n && ok; k++)
        for (unsigned o = 0; o < relaxed_operands(f.at[k]); o++) {
            LLVMValueRef x = canonical_of(strip_casts(LLVMGetOperand(f.at[k], o)));
            if (x && LLVMTypeOf(x) == LLVMTypeOf(f.at[k]))
                LLVMSetOperand(f.at[k], o, x);
        }
    if (ok)
        relax_phis(fn, &f);
    free(f.at);
}

/* ---- out of the way ---- */

/* Is it used only by instructions of other, rare blocks? */
static bool is_used_rarely(LLVMValueRef v, LLVMBasicBlockRef own)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        LLVMBasicBlockRef block = LLVMGetInstructionParent(user);
        bool is_cast = LLVMGetInstructionOpcode(user) == LLVMBitCast && block == own;
        if (is_phi(user) || (is_cast ? !is_used_rarely(user, own) : block == own || !is_cold(block, COLD_DEPTH)))
            return false;
    }
    return LLVMGetFirstUse(v) != NULL;
}

static LLVMValueRef clone(LLVMBuilderRef b, LLVMValueRef v)
{
    LLVMValueRef copy = LLVMInstructionClone(v);
    LLVMInsertIntoBuilder(b, copy);
    return copy;
}

/* Each user canonicalises the plain value itself; `cast`: what they use, derived from `canonical`,
 * or `canonical` itself. */
static void sink_to_users(LLVMBuilderRef b, LLVMValueRef canonical, LLVMValueRef cast)
{
    LLVMValueRef test = LLVMGetOperand(canonical, 0);
    for (LLVMUseRef u = LLVMGetFirstUse(cast); u; u = LLVMGetFirstUse(cast)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMGetInstructionOpcode(user) == LLVMBitCast &&
            LLVMGetInstructionParent(user) == LLVMGetInstructionParent(canonical)) {
            sink_to_users(b, canonical, user);
            LLVMInstructionEraseFromParent(user);
            continue;
        }
        LLVMPositionBuilderBefore(b, user);
        LLVMValueRef own_test = clone(b, test), own = clone(b, canonical);
        LLVMSetOperand(own, 0, own_test);
        own = cast == canonical ? own : LLVMBuildBitCast(b, own, LLVMTypeOf(cast), "");
        for (int k = 0; k < LLVMGetNumOperands(user); k++)
            if (LLVMGetOperand(user, (unsigned)k) == cast)
                LLVMSetOperand(user, (unsigned)k, own);
    }
}

void pass_sink_nans(LLVMBuilderRef b, LLVMValueRef fn)
{
    struct found f = {0};
    bool ok = true;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(fn); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && ok; i = LLVMGetNextInstruction(i))
            if (canonical_of(i) && LLVMIsAInstruction(LLVMGetOperand(i, 0)) && is_used_rarely(i, block))
                ok = add(&f, i);
    for (size_t k = 0; k < f.n && ok; k++) {
        LLVMValueRef test = LLVMGetOperand(f.at[k], 0);
        sink_to_users(b, f.at[k], f.at[k]);
        LLVMInstructionEraseFromParent(f.at[k]);
        if (!LLVMGetFirstUse(test))
            LLVMInstructionEraseFromParent(test);
    }
    free(f.at);
}
