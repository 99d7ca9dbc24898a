/* Registers compiled kernels with gdb (GDB manual, "JIT Compilation Interface"), so that
 * backtraces have their names. */
#ifndef HEDDLE_JIT_GDB_H
#define HEDDLE_JIT_GDB_H

#include "jit/host/elf_loader.h"

struct gdb_entry;

/* Registers a loaded object; NULL if memory is exhausted. */
struct gdb_entry *gdb_tell(const struct loaded_object *o, const uint8_t *elf, size_t bytes);
/* Call it before the object is unloaded; NULL is allowed. */
void gdb_forget(struct gdb_entry *e);

#endif
