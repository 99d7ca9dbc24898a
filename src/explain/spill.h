/* Estimates which registers of a thread ptxas spills to local memory, and when they are reloaded.
 *
 * PTX has unlimited registers. If more values are live than a thread has registers (by .maxnreg,
 * .maxntid and .minnctapersm, or by the machine code), the estimate is Belady's algorithm ("A study
 * of replacement algorithms for a virtual-storage computer", 1966): each block of code evicts the
 * value whose next use is farthest; a loop of one block begins with what its last iteration left. A
 * value that is reloaded anywhere is stored at each definition.
 *
 * If there is machine code, its frame tells whether there are spills: the bytes beyond PTX's own
 * arrays. If PTX has no arrays, the machine code's loads and stores of local memory give the number
 * of spills, and only their places are estimated. Beside arrays the two cannot be told apart, and
 * the estimate is used as it is.
 */
#ifndef HEDDLE_EXPLAIN_SPILL_H
#define HEDDLE_EXPLAIN_SPILL_H

#include <stdint.h>

struct arena;
struct code;
struct ir_live;
struct kernel;

/* The 32-bit words that a thread loads and stores when it runs a block of code. */
struct spills {
    float loads, stores;
};

/* By function (struct code.index) and block; NULL if there are none. `live`: by function, too; NULL
 * where it is not known, and no spills are found there. */
struct spills **spills_find(const struct kernel *k, const struct ir_live *const *live, struct arena *arena);
/* The bytes of local memory that a thread needs for them. */
uint32_t spilled_bytes(const struct kernel *k, struct spills *const *spills);

#endif
