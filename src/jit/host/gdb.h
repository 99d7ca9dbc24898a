/* Tells gdb of compiled kernels (GDB manual, "JIT Compilation Interface"), so that backtraces have
 * their names. */
#ifndef HEDDLE_JIT_GDB_H
#define HEDDLE_JIT_GDB_H

#include "jit/host/elf_loader.h"

struct gdb_entry;

/* The entry of an object that has been loaded, or NULL where there is no memory for it. */
struct gdb_entry *gdb_tell(const struct loaded_object *o, const uint8_t *elf, size_t bytes);
/* Before the object is unloaded; NULL is allowed. */
void gdb_forget(struct gdb_entry *e);

#endif
