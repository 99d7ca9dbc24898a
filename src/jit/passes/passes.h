/* Passes of our own over LLVM's code of a function, between LLVM's (compile.c). They know nothing
 * of kernels. */
#ifndef HEDDLE_JIT_PASSES_H
#define HEDDLE_JIT_PASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

/* Drops the step that makes NaNs canonical from f32 results that only go into more arithmetic
 * (nan.c). To be run when registers have become values (after mem2reg). */
void pass_relax_nans(LLVMValueRef fn);

/* What is made canonical and then only used where code rarely comes to, as by exits, is made so
 * there (nan.c). To be run behind LLVM's passes. */
void pass_sink_nans(LLVMBuilderRef b, LLVMValueRef fn);

/* The same mask, with its origin hidden from LLVM: if masks a, b and a | b are all converted to
 * lanes, LLVM 19's combiner for x86 goes from bitcast(a | b) to bitcast(a) | bitcast(b) and back
 * for ever. */
LLVMValueRef pass_opaque_mask(LLVMBuilderRef b, LLVMValueRef mask);
/* Does that to masks that passes have made of each other, by `or` and `xor`, in a function as it
 * goes to the code generator. */
void pass_hide_masks(LLVMBuilderRef b, LLVMValueRef fn);

/* For CPUs without registers of masks, in a function as it goes to the code generator: where
 * vectors are chosen, moved or extended by a mask of lanes, each lane compares its bit, in an
 * element as wide as theirs (masks.c). Of a mask as it stands LLVM makes vectors by a shift and an
 * insertion for each lane. */
void pass_spread_masks(LLVMBuilderRef b, LLVMValueRef fn);

#endif
