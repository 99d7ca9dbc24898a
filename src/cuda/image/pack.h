/* Packs: files with the PTX of a library's kernels, for libraries that contain only machine code.
 *
 * A pack is made from the library's sources (`heddle pack`). Facts, NAME=VALUE, say what it belongs
 * to. Symbols give the names of kernels and variables (pack_names.h), each with its slice: a
 * complete PTX text, which is in a compressed block with others. The file is mapped, and a block is
 * unpacked when it is first needed. Everything in the file is validated before it is used.
 *
 * The file: a header; the facts, lines of text; the symbols, in the order of their names; the
 * slices; the blocks; the names, each ended by a zero; the compressed blocks. All numbers are
 * little-endian.
 */
#ifndef HEDDLE_CUDA_IMAGE_PACK_H
#define HEDDLE_CUDA_IMAGE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACK_MAGIC "heddle\npack\r\n\0001"
enum { PACK_MAX_BLOCK = 1 << 28, PACK_MAX_FACTS = 1 << 20 };

struct pack_part {
    /* at: offset in the file, in bytes; n: number of entries, or bytes of facts and names. */
    uint64_t at, n;
};

struct pack_header {
    char magic[16];
    uint64_t bytes; /* of the file */
    struct pack_part facts, symbols, slices, blocks, names;
};

enum pack_kind { PACK_KERNEL, PACK_VARIABLE };

struct pack_symbol {
    uint32_t name, literal; /* offsets in the names: the common form, and the name in the PTX */
    uint32_t slice;
    uint32_t kind;
    uint32_t bytes;   /* size of a kernel's parameters, or of a variable */
    uint32_t threads; /* most threads of a block, by the PTX; 0: not said */
};

struct pack_slice {
    uint32_t block, at, bytes;
};

struct pack_block {
    uint64_t at;
    uint32_t packed, bytes;
};

struct pack;

/* NULL: `why` says what is wrong with the file. */
struct pack *pack_open(const char *path, char *why, size_t size);
void pack_close(struct pack *p);
const char *pack_path(const struct pack *p);
/* The i-th value of a fact; NULL after the last. */
const char *pack_fact(const struct pack *p, const char *name, unsigned i);
/* The i-th fact as NAME=VALUE; NULL after the last. */
const char *pack_fact_line(const struct pack *p, size_t i);
size_t pack_count(const struct pack *p); /* of symbols */

/* A symbol that was found. */
struct pack_found {
    const char *name, *literal;
    struct pack_symbol symbol;
};

/* Finds a symbol by the common form of its name, or the i-th of all. False: there is none, or the
 * file is damaged, and `why` says so. */
bool pack_find(const struct pack *p, enum pack_kind kind, const char *name, struct pack_found *found, char *why,
               size_t size);
bool pack_at(const struct pack *p, size_t i, struct pack_found *found, char *why, size_t size);
/* The text of a slice, from malloc, with a zero at its end. NULL: the file is damaged or memory is
 * exhausted; `why` says so. */
char *pack_text(const struct pack *p, uint32_t slice, size_t *bytes, char *why, size_t size);

#endif
