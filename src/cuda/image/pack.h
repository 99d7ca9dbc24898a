/* Packs: PTX of a library's kernels, in a file beside the library, where the library itself has
 * machine code alone.
 *
 * A pack is made from the library's sources (`heddle pack`). It says what it belongs to, in facts,
 * NAME=VALUE; and by which names kernels and variables are found (pack_names.h), each with what its
 * slice of PTX is: a text that stands for itself, in a compressed block of several. The file is
 * mapped, and a block is read when something of it is asked for; what the file says of itself is
 * checked before it is believed.
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
    uint64_t at, n; /* from the file's start in bytes; how many entries, or bytes of the facts and the names */
};

struct pack_header {
    char magic[16];
    uint64_t bytes; /* of the file */
    struct pack_part facts, symbols, slices, blocks, names;
};

enum pack_kind { PACK_KERNEL, PACK_VARIABLE };

struct pack_symbol {
    uint32_t name, literal; /* where in the names: the common form, and what the PTX calls it */
    uint32_t slice;
    uint32_t kind;
    uint32_t bytes;   /* of a kernel's parameters, of a variable */
    uint32_t threads; /* of a block at most, by the PTX; 0 where it does not say */
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
/* The i-th value of a fact, until NULL. */
const char *pack_fact(const struct pack *p, const char *name, unsigned i);
/* The i-th fact as NAME=VALUE, until NULL. */
const char *pack_fact_line(const struct pack *p, size_t i);
size_t pack_count(const struct pack *p); /* of symbols */

/* A symbol as it is used: what names lead to. */
struct pack_found {
    const char *name, *literal;
    struct pack_symbol symbol;
};

/* By the common form of its name, or the i-th of all. False: there is none, or the file is broken
 * there: then `why` says so. */
bool pack_find(const struct pack *p, enum pack_kind kind, const char *name, struct pack_found *found, char *why,
               size_t size);
bool pack_at(const struct pack *p, size_t i, struct pack_found *found, char *why, size_t size);
/* The text of a slice, malloc'ed, ended by a zero. NULL: the file is broken there, or there is no
 * memory; `why` says so. */
char *pack_text(const struct pack *p, uint32_t slice, size_t *bytes, char *why, size_t size);

#endif
