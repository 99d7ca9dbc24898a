/* Masks of lanes that are made of masks of lanes, hidden from the code generator; see passes.h. */
#include "jit/passes/passes.h"

static LLVMTypeRef lanes_type(LLVMValueRef mask)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(mask));
    return LLVMVectorType(LLVMInt1TypeInContext(context), 32);
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

/* What LLVM's combiner may come to see as masks that are made lanes: it simplifies first, so how deep the whole is does not count. */
static bool is_of_lanes(LLVMValueRef mask, int depth)
{
    if (is_made_lanes(mask))
        return true;
    LLVMOpcode code = LLVMIsAInstruction(mask) ? LLVMGetInstructionOpcode(mask) : LLVMRet;
    return depth > 0 && (code == LLVMAnd || code == LLVMOr || code == LLVMXor) &&
           is_of_lanes(LLVMGetOperand(mask, 0), depth - 1) && is_of_lanes(LLVMGetOperand(mask, 1), depth - 1);
}

static bool is_mask_of_masks(LLVMValueRef lanes)
{
    enum { DEPTH = 4 };
    LLVMValueRef mask = LLVMIsABitCastInst(lanes) ? LLVMGetOperand(lanes, 0) : NULL;
    if (!mask || LLVMTypeOf(lanes) != lanes_type(mask) || !LLVMIsAInstruction(mask))
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
