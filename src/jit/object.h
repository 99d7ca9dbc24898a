/* Machine code from a relocatable ELF object, put into memory to be run. */
#ifndef HEDDLE_JIT_OBJECT_H
#define HEDDLE_JIT_OBJECT_H

#include "exec/compiled.h"

struct object {
    uint8_t *at; /* mapped: code, constants, stubs */
    size_t bytes;
};

/* functions[i] becomes the object's function of that number (JIT_FUNCTION_NAME), for i < n; others stay as they are.
 * False with *error, a static text, where the object is damaged or needs what this loader does not know. */
bool object_load(struct object *o, const uint8_t *elf, size_t bytes, compiled_fn **functions, uint32_t n,
                 const char **error);
void object_unload(struct object *o);

#endif
