/* Lines of instructions whose own .loc names none (PTX ISA 11.5.3). */
#ifndef HEDDLE_PTX_LOC_H
#define HEDDLE_PTX_LOC_H

#include "ptx/module.h"

/* The .loc of the first instruction with a line that uses what the load, the function's statement
 * `load`, has loaded; NULL where there is none. LLVM gives line 0 to a load that it moves out of a
 * loop: its line is where its value is used. */
const struct ptx_loc *ptx_loc_of_use(const struct ptx_func *f, uint32_t load);

#endif
