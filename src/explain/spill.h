/* Registers that a thread has no room for: what ptxas spills to local memory, and when it comes
 * back. An estimate.
 *
 * PTX has as many registers as it likes. Where more values are alive than a thread has registers
 * (.maxnreg, .maxntid and .minnctapersm, or what the machine code has taken), the estimate is
 * Belady's ("A study of replacement algorithms for a virtual-storage computer", 1966): in each
 * block of code the value goes that is needed again last; a loop of one block begins with what its
 * last round has left. What is loaded again anywhere is stored wherever it is defined.
 *
 * Where machine code is known, its frame says whether there are spills at all: what it has beyond
 * PTX's own arrays. Where PTX has none, the loads and stores of local memory of the machine code
 * say how many there are, and only where they are is estimated; beside arrays these cannot be told
 * apart, and the estimate stands as it is.
 */
#ifndef HEDDLE_EXPLAIN_SPILL_H
#define HEDDLE_EXPLAIN_SPILL_H

#include <stdint.h>

struct arena;
struct code;
struct ir_live;
struct kernel;

/* Of a block of code: words of 32 bits that a thread loads and stores when it runs. */
struct spills {
    float loads, stores;
};

/* By function (struct code.index) and block; NULL: there are none. `live`: by function, too; NULL
 * where it is not known: none are found there. */
struct spills **spills_find(const struct kernel *k, const struct ir_live *const *live, struct arena *arena);
/* Bytes of local memory that they take, of a thread. */
uint32_t spilled_bytes(const struct kernel *k, struct spills *const *spills);

#endif
