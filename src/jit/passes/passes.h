/* Heddle's own passes over LLVM IR, which run between LLVM's (compile.c). They know nothing of
 * kernels. */
#ifndef HEDDLE_JIT_PASSES_H
#define HEDDLE_JIT_PASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

/* Removes the canonicalisation of NaNs from f32 results that only feed more arithmetic (nan.c).
 * To be run when registers have become values (after mem2reg). */
void pass_relax_nans(LLVMValueRef fn);

/* Moves the canonicalisation of values that are only used in cold code, such as exits, into that
 * code (nan.c). To be run after LLVM's passes. */
void pass_sink_nans(LLVMBuilderRef b, LLVMValueRef fn);

/* The same mask, with its origin hidden from LLVM. If masks a, b and a | b are all converted to
 * lanes, LLVM 19's combiner for x86 loops forever between bitcast(a | b) and bitcast(a) |
 * bitcast(b). */
LLVMValueRef pass_opaque_mask(LLVMBuilderRef b, LLVMValueRef mask);
/* Hides the masks that passes have made of each other by `or` and `xor`. To be run just before
 * code generation. */
void pass_hide_masks(LLVMBuilderRef b, LLVMValueRef fn);

/* For CPUs without mask registers, to be run just before code generation: where a mask of lanes
 * selects, moves or extends vectors, each lane compares its bit, in an element as wide as the
 * vector's (masks.c). By itself LLVM makes a vector of a mask by a shift and an insertion for
 * each lane. */
void pass_spread_masks(LLVMBuilderRef b, LLVMValueRef fn);

/* Replaces loads of vectors that the same basic block has stored by the stored values, moved by
 * shuffles where a load takes parts of two, and removes stores that the block overwrites before
 * anything reads them (forward.c). A CPU forwards only whole stores: other loads wait until the
 * store has reached the cache. To be run after LLVM's passes. */
void pass_forward_stores(LLVMBuilderRef b, LLVMValueRef fn, unsigned vector_bits);

#endif
