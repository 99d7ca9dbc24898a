/* What lane functions, and what they include, take from the C library's <string.h>: for bitcode,
 * which is made for CPUs whose headers this machine need not have (scripts/embed-bitcode). The rest
 * are the compiler's own headers.
 */
#ifndef HEDDLE_ISA_FREESTANDING_STRING_H
#define HEDDLE_ISA_FREESTANDING_STRING_H

#include <stddef.h>

#define memcpy __builtin_memcpy
#define memcmp __builtin_memcmp
#define strlen __builtin_strlen

void *memmem(const void *in, size_t in_bytes, const void *part, size_t part_bytes);

#endif
