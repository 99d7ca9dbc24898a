/* Registers that a thread has no room for: what ptxas spills to local memory, and when it comes back. An estimate.
 *
 * PTX has as many registers as it likes. Where more values are alive than a thread has registers (.maxnreg, .maxntid and
 * .minnctapersm, or what the machine code has taken), the estimate is Belady's ("A study of replacement algorithms for a
 * virtual-storage computer", 1966): in each block of code the value goes that is needed again last; a loop of one block begins with
 * what its last round has left. What is loaded again anywhere is stored wherever it is defined. Where machine code is known, its frame says whether there are spills at all, and its loads and
 * stores of local memory how many: then only where they are is estimated.
 */
#ifndef HEDDLE_EXPLAIN_SPILL_H
#define HEDDLE_EXPLAIN_SPILL_H

#include <stdint.h>

struct arena;
struct code;
struct kernel;

/* Of a block of code: words of 32 bits that a thread loads and stores when it runs. */
struct spills {
    float loads, stores;
};

/* By function (struct code.index) and block; NULL: there are none. */
struct spills **spills_find(const struct kernel *k, struct arena *arena);
/* Bytes of local memory that they take, of a thread. */
uint32_t spilled_bytes(const struct kernel *k, struct spills *const *spills);

#endif
