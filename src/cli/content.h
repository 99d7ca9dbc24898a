/* What stands in a buffer before a launch: the CONTENT of TYPE[SHAPE]=CONTENT.
 *
 *     zeros  ones  fill:VALUE  VALUE,VALUE,...  @FILE.npy  @FILE (raw bytes)
 *     undef                      zeros that --check takes for never written
 *     range[:START[:STEP]]       START, START + STEP, ...
 *     rand[:SEED]                floats in [0, 1); integers over their whole range
 *     randint:LO:HI[:SEED]       integers from LO to HI, both included
 *
 * Random elements depend on the seed and their place alone.
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
    uint64_t count;     /* elements that a list or file has; 0 where any number will do */
    struct npy npy;     /* of a file: its data; the shape of a .npy file, else n_dims is 0 */
    struct file_bytes file;
};

/* `seed` is taken where the text gives none. Where *type is TYPE_none, a .npy file says it. Reads
 * the file; of a device, what `count` elements take, where that is not 0. Returns NULL, or what is
 * wrong, in the arena. */
const char *content_parse(struct arena *arena, struct str text, enum isa_type *type, uint64_t count, uint64_t seed,
                          struct content *c);

/* Writes `count` elements. */
void content_fill(const struct content *c, enum isa_type type, void *to, uint64_t count);

/* Forgets the file. */
void content_free(struct content *c);

#endif
