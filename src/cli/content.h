/* The contents of a buffer before a launch: the CONTENT of TYPE[SHAPE]=CONTENT.
 *
 *     zeros  ones  fill:VALUE  VALUE,VALUE,...  @FILE.npy  @FILE (raw bytes)
 *     undef                      zeros that --check takes for never written
 *     range[:START[:STEP]]       START, START + STEP, ...
 *     rand[:SEED]                floats in [0, 1); integers over their whole range
 *     randint:LO:HI[:SEED]       integers from LO to HI, both included
 *
 * A random element depends only on the seed and its index.
 */
#ifndef HEDDLE_CLI_CONTENT_H
#define HEDDLE_CLI_CONTENT_H

#include "files/file.h"
#include "cli/npy.h"
#include "cli/value.h"

enum content_kind {
    CONTENT_FILL,
    CONTENT_RANGE,
    CONTENT_RAND,
    CONTENT_RANDINT,
    CONTENT_LIST,
    CONTENT_FILE,
    CONTENT_UNDEF
};

struct content {
    enum content_kind kind;
    struct value first, second; /* the value; START, STEP; LO, HI */
    uint64_t seed;
    struct value *list; /* count of them */
    uint64_t count;     /* the number of elements in a list or file; 0: any number is possible */
    struct npy npy;     /* a file's data, with the shape of a .npy file; else n_dims is 0 */
    struct file_bytes file;
};

/* `seed` is used if the text has none. If *type is TYPE_none, a .npy file sets it. Reads the file;
 * from a device file, only the bytes of `count` elements, unless that is 0. Returns NULL, or what
 * is wrong, in the arena. */
const char *content_parse(struct arena *arena, struct str text, enum isa_type *type, uint64_t count, uint64_t seed,
                          struct content *c);

/* Writes `count` elements. */
void content_fill(const struct content *c, enum isa_type type, void *to, uint64_t count);

/* Forgets the file. */
void content_free(struct content *c);

#endif
