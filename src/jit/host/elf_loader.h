/* Loads machine code from a relocatable ELF object into memory. */
#ifndef HEDDLE_JIT_ELF_LOADER_H
#define HEDDLE_JIT_ELF_LOADER_H

#include <stdio.h>

#include "exec/compiled.h"
#include "jit/host/relocation.h"

enum { LOADER_ERROR_BYTES = RELOCATION_ERROR_BYTES };

struct loaded_object {
    uint8_t *at; /* the mapping: code, constants, stubs */
    size_t bytes;
    uint64_t *sections; /* offsets in the mapping, by section of the object */
};

/* functions[i] becomes the object's function with that number (JIT_FUNCTION_NAME), for i < n;
 * others stay unchanged. False with the reason if the object is damaged or needs something that
 * this loader does not support. */
bool loader_load(struct loaded_object *o, const uint8_t *elf, size_t bytes, compiled_fn **functions, uint32_t n,
                 char error[LOADER_ERROR_BYTES]);
/* Writes the functions' names for perf: lines for /tmp/perf-PID.map
 * (tools/perf/Documentation/jit-interface.txt). */
void loader_name_functions(const struct loaded_object *o, const uint8_t *elf, size_t bytes, FILE *map);
void loader_unload(struct loaded_object *o);

#endif
