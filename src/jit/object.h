/* Machine code from a relocatable ELF object, put into memory to be run. */
#ifndef HEDDLE_JIT_OBJECT_H
#define HEDDLE_JIT_OBJECT_H

#include <stdio.h>

#include "exec/compiled.h"
#include "jit/reference.h"

enum { OBJECT_ERROR_BYTES = REFERENCE_ERROR_BYTES };

struct object {
    uint8_t *at; /* mapped: code, constants, stubs */
    size_t bytes;
    uint64_t *sections; /* offsets there, by section of the object */
};

/* functions[i] becomes the object's function of that number (JIT_FUNCTION_NAME), for i < n; others stay as they are.
 * False with the reason where the object is damaged or needs what this loader does not know. */
bool object_load(struct object *o, const uint8_t *elf, size_t bytes, compiled_fn **functions, uint32_t n,
                 char error[OBJECT_ERROR_BYTES]);
/* Tells perf the functions' names: lines for /tmp/perf-PID.map (tools/perf/Documentation/jit-interface.txt). */
void object_name(const struct object *o, const uint8_t *elf, size_t bytes, FILE *map);
void object_unload(struct object *o);

#endif
