/* Passes of our own over LLVM's code of a function, between LLVM's (compile.c). They know nothing of kernels. */
#ifndef HEDDLE_JIT_PASSES_H
#define HEDDLE_JIT_PASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

/* Results of f32 that only go into more arithmetic need not be made canonical NaNs (nan.c). When registers have become values. */
void pass_relax_nans(LLVMValueRef fn);

/* The same mask, of which LLVM does not see what it is made of: of masks a, b and a | b that are all made lanes of it goes from
 * bitcast(a | b) to bitcast(a) | bitcast(b) and back for ever (LLVM 19, x86). */
LLVMValueRef pass_opaque_mask(LLVMBuilderRef b, LLVMValueRef mask);
/* The same for masks that passes have made of each other, by `or` and by `xor`: in a function as it goes to the code generator. */
void pass_hide_masks(LLVMBuilderRef b, LLVMValueRef fn);

#endif
