/* Loads of what the same basic block has stored, and stores that it overwrites; see passes.h.
 *
 * All accesses that are considered are at constant distances from one base, an LLVM value. Stored
 * vectors are kept in pieces of a CPU's vector. A load takes one or two pieces for each of its own:
 * the CPU itself forwards a store only to loads that lie within it. */
#include "jit/passes/passes.h"

#include <string.h>

enum { MAX_PIECES = 512, MAX_STORES = 256, MAX_ELEMENTS = 64 };

struct place {
    LLVMValueRef base; /* NULL: not known */
    int64_t at;
    unsigned bytes, width; /* of the whole vector; bits of an element */
};

struct piece { /* whose bytes in memory are elements `first` and the following of a stored vector */
    int64_t at;
    /* own: the piece as a vector, NULL as long as nobody has asked for it. */
    LLVMValueRef vector, own;
    unsigned first, width;
};

struct store {
    int64_t at;
    unsigned bytes;
    LLVMValueRef i;
};

struct known {
    LLVMBuilderRef b;
    unsigned piece; /* bytes */
    LLVMValueRef base;
    struct piece pieces[MAX_PIECES];
    struct store stores[MAX_STORES]; /* that nobody has read yet */
    unsigned n_pieces, n_stores;
};

static void forget(struct known *k)
{
    k->n_pieces = k->n_stores = 0;
    k->base = NULL;
}

static unsigned element_bits(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMFloatTypeKind: return 32;
    case LLVMDoubleTypeKind: return 64;
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type);
    default: return 0;
    }
}

/* Where a vector is loaded or stored. Without a base if it is no vector of whole bytes, or if other
 * threads may see the access. */
static struct place place_of(LLVMValueRef access, LLVMValueRef address, LLVMTypeRef type)
{
    struct place p = {.base = NULL};
    if (LLVMGetVolatile(access) || LLVMGetOrdering(access) != LLVMAtomicOrderingNotAtomic ||
        LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return p;
    p.width = element_bits(LLVMGetElementType(type));
    if (p.width == 0 || p.width % 8 != 0)
        return p;
    p.bytes = LLVMGetVectorSize(type) * p.width / 8;
    for (p.base = address; LLVMIsAGetElementPtrInst(p.base); p.base = LLVMGetOperand(p.base, 0)) {
        LLVMTypeRef step = LLVMGetGEPSourceElementType(p.base);
        if (LLVMGetNumOperands(p.base) != 2 || !LLVMIsAConstantInt(LLVMGetOperand(p.base, 1)) ||
            LLVMGetTypeKind(step) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(step) != 8)
            break;
        p.at += LLVMConstIntGetSExtValue(LLVMGetOperand(p.base, 1));
    }
    return p;
}

/* ---- stores ---- */

static void forget_pieces(struct known *k, int64_t at, unsigned bytes)
{
    for (unsigned n = k->n_pieces; n-- > 0;)
        if (k->pieces[n].at < at + bytes && at < k->pieces[n].at + k->piece)
            k->pieces[n] = k->pieces[--k->n_pieces];
}

/* Stores that this one overwrites as a whole were in vain. */
static void drop_overwritten(struct known *k, const struct place *p)
{
    for (unsigned n = k->n_stores; n-- > 0;)
        if (p->at <= k->stores[n].at && k->stores[n].at + k->stores[n].bytes <= p->at + p->bytes) {
            LLVMInstructionEraseFromParent(k->stores[n].i);
            k->stores[n] = k->stores[--k->n_stores];
        }
}

static void keep_store(struct known *k, LLVMValueRef i)
{
    LLVMValueRef vector = LLVMGetOperand(i, 0);
    struct place p = place_of(i, LLVMGetOperand(i, 1), LLVMTypeOf(vector));
    if (!p.base || (k->base && k->base != p.base))
        forget(k);
    if (!p.base)
        return;
    k->base = p.base;
    drop_overwritten(k, &p);
    forget_pieces(k, p.at, p.bytes);
    if (k->n_stores < MAX_STORES)
        k->stores[k->n_stores++] = (struct store){p.at, p.bytes, i};
    for (unsigned at = 0; p.bytes % k->piece == 0 && at < p.bytes && k->n_pieces < MAX_PIECES; at += k->piece)
        k->pieces[k->n_pieces++] = (struct piece){p.at + at, vector, NULL, at * 8 / p.width, p.width};
}

/* ---- loads ---- */

static struct piece *find(struct known *k, int64_t at, unsigned width)
{
    for (unsigned n = 0; n < k->n_pieces; n++)
        if (k->pieces[n].at <= at && at < k->pieces[n].at + k->piece && k->pieces[n].width == width)
            return &k->pieces[n];
    return NULL;
}

static LLVMValueRef shuffle(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y, unsigned first, unsigned n)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(x)));
    LLVMValueRef index[MAX_ELEMENTS];
    for (unsigned k = 0; k < n; k++)
        index[k] = LLVMConstInt(i32, first + k, false);
    return LLVMBuildShuffleVector(b, x, y, LLVMConstVector(index, n), "");
}

/* Piece `p` as a vector of `element`s, which are as wide as its own. */
static LLVMValueRef take(struct known *k, struct piece *p, LLVMTypeRef element)
{
    unsigned n = k->piece * 8 / p->width;
    if (!p->own)
        p->own = LLVMGetVectorSize(LLVMTypeOf(p->vector)) == n
                     ? p->vector
                     : shuffle(k->b, p->vector, LLVMGetPoison(LLVMTypeOf(p->vector)), p->first, n);
    return LLVMBuildBitCast(k->b, p->own, LLVMVectorType(element, n), "");
}

static bool is_known(struct known *k, const struct place *p)
{
    for (unsigned at = 0; at < p->bytes; at += k->piece) {
        const struct piece *first = find(k, p->at + at, p->width), *last = find(k, p->at + at + k->piece - 1, p->width);
        if (!first || !last || (p->at + at - first->at) % (p->width / 8) != 0 ||
            (last != first && last->at != first->at + k->piece))
            return false;
    }
    return true;
}

static LLVMValueRef load_piece(struct known *k, int64_t at, unsigned width, LLVMTypeRef element)
{
    struct piece *first = find(k, at, width), *last = find(k, at + k->piece - 1, width);
    LLVMValueRef x = take(k, first, element);
    return first == last
               ? x
               : shuffle(k->b, x, take(k, last, element), (unsigned)(at - first->at) * 8 / width, k->piece * 8 / width);
}

/* The vector from `at` on, of `bytes`, a power of two times a piece. */
static LLVMValueRef load(struct known *k, int64_t at, unsigned bytes, unsigned width, LLVMTypeRef element)
{
    if (bytes == k->piece)
        return load_piece(k, at, width, element);
    LLVMValueRef low = load(k, at, bytes / 2, width, element),
                 high = load(k, at + bytes / 2, bytes / 2, width, element);
    return shuffle(k->b, low, high, 0, bytes * 8 / width);
}

/* Stores that a remaining load may read have to stay. */
static void read_stores(struct known *k, const struct place *p)
{
    for (unsigned n = k->n_stores; n-- > 0;)
        if (!p->base || p->base != k->base ||
            (p->at < k->stores[n].at + k->stores[n].bytes && k->stores[n].at < p->at + p->bytes))
            k->stores[n] = k->stores[--k->n_stores];
}

static void replace_load(struct known *k, LLVMValueRef i)
{
    LLVMTypeRef type = LLVMTypeOf(i);
    struct place p = place_of(i, LLVMGetOperand(i, 0), type);
    unsigned pieces = p.bytes / k->piece;
    bool fits = p.base && p.base == k->base && p.bytes % k->piece == 0 && (pieces & (pieces - 1)) == 0 &&
                p.bytes * 8 / p.width <= MAX_ELEMENTS;
    if (!fits || !is_known(k, &p)) {
        read_stores(k, &p);
        return;
    }
    LLVMPositionBuilderBefore(k->b, i);
    LLVMReplaceAllUsesWith(i, load(k, p.at, p.bytes, p.width, LLVMGetElementType(type)));
    LLVMInstructionEraseFromParent(i);
}

/* ---- blocks ---- */

/* Does it neither read nor write memory that a kernel knows? */
static bool is_without_effect(LLVMValueRef call)
{
    static const char prefetch[] = "llvm.prefetch";
    size_t n;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(callee))
        return false;
    unsigned memory = LLVMGetEnumAttributeKindForName("memory", strlen("memory"));
    LLVMAttributeRef effects = LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, memory);
    return (effects && LLVMGetEnumAttributeValue(effects) == 0) ||
           strncmp(LLVMGetValueName2(callee, &n), prefetch, sizeof prefetch - 1) == 0;
}

static void forward(struct known *k, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMStore: keep_store(k, i); break;
    case LLVMLoad:
        if (LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic)
            forget(k);
        else
            replace_load(k, i);
        break;
    case LLVMCall:
        if (!is_without_effect(i))
            forget(k);
        break;
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMVAArg: forget(k); break;
    default: break;
    }
}

void pass_forward_stores(LLVMBuilderRef b, LLVMValueRef fn, unsigned vector_bits)
{
    struct known k = {.b = b, .piece = vector_bits / 8};
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(fn); block; block = LLVMGetNextBasicBlock(block)) {
        forget(&k);
        for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            forward(&k, i);
        }
    }
}
