/* NumPy's .npy files: a header with type and shape, followed by the elements.
 *
 * Read: versions 1 to 3 of the format, little-endian, C order (numpy.lib.format). Written: version
 * 1. NumPy does not know bf16, which is stored as two raw bytes ("V2"), as ml_dtypes does.
 */
#ifndef HEDDLE_CLI_NPY_H
#define HEDDLE_CLI_NPY_H

#include "files/file.h"
#include "cli/value.h"

enum { NPY_MAX_DIMS = 8 };

struct npy {
    enum isa_type type; /* as the file says: u8 for bool; b16 for V2 */
    unsigned n_dims;
    uint64_t dim[NPY_MAX_DIMS];
    uint64_t count; /* of elements; 1 where there are no dimensions */
    const char *data;
};

/* Looks at the bytes of a file. Returns NULL, or what is wrong, in the arena. */
const char *npy_read(struct arena *arena, const char *bytes, size_t n, struct npy *npy);

/* May elements of the file's type be taken as `wanted`? Signedness does not matter, and b8 to b64
 * take all.
 */
bool npy_fits(const struct npy *npy, enum isa_type wanted);

/* Writes type, shape and data of `npy`; count * bytes of its type. */
const char *npy_write(struct file_writer *w, const struct npy *npy);

#endif
