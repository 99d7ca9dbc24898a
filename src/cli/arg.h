/* Arguments of a launch as typed: scalars, buffers, structures.
 *
 *     512  -3  0x10  2.5  f32:2.5         a scalar
 *     TYPE[SHAPE][=CONTENT][+WHAT...]     a buffer: the parameter gets its address (content.h)
 *     @FILE.npy                           a buffer with the type and shape of the file
 *     same:N[+BYTES]                      the buffer of argument N again
 *     hex:00ff...  @FILE                  the bytes of a structure
 *     TYPE:VALUE,VALUE,...                one member after another, each aligned as in C
 *     {ITEM;ITEM;...}                     the same from items: TYPE:VALUE,... or buffers
 *
 * WHAT tells what becomes of a buffer's contents after the launch: print, sum, save:FILE, hide;
 * outcomes, of heddle explore.
 */
#ifndef HEDDLE_CLI_ARG_H
#define HEDDLE_CLI_ARG_H

#include "base/vec.h"
#include "cli/content.h"
#include "heddle.h"

/* Memory that a launch works on, and whose contents are shown afterwards: an argument's buffer, or
 * a variable of the module. */
struct buffer {
    unsigned argument; /* its number, from 1; 0: a variable of the module */
    const char *text;  /* as typed; a variable's name */
    enum isa_type type;
    unsigned n_dims;
    uint64_t dim[NPY_MAX_DIMS];
    uint64_t count; /* of elements */
    bool has_content;
    struct content content;
    bool print, sum, hide;
    bool outcomes; /* heddle explore: the elements are part of an outcome */
    const char *save;
    void *at;     /* on the machine */
    void *before; /* its contents before the launch */
};

/* A place in a parameter's bytes where the address of a buffer goes. */
struct pointer {
    size_t at;
    uint64_t addend;
    struct buffer *buffer;
};

struct arg {
    uint8_t *bytes; /* of the parameter */
    VEC(struct pointer) pointers;
};

struct args {
    struct arena *arena;
    VEC(struct arg) list;
    VEC(struct buffer *) buffers;
};

struct session;
struct file_bytes;
/* Reads the PTX files of the session's words: the first word, and every following one that ends in
 * .ptx. Returns 0, or the exit status after an error. */
int arg_read_files(struct session *s, int *n, struct file_bytes **files);
/* Reads the text as the next argument, for a parameter. Returns NULL, or what is wrong, in the
 * arena. */
const char *arg_parse(struct args *args, const char *text, const hd_param_info *param);

/* Reads "NAME[=CONTENT][+WHAT...]" as a buffer that is a variable of the module. */
const char *arg_parse_variable(struct args *args, const char *text, const hd_module *module);

/* Adds the .global variables that are not there yet, to be shown where they change. */
void arg_add_variables(struct args *args, const hd_module *module);

/* What a parameter takes, in words: "a number: 512", "a buffer: 'f32[1024]'". */
const char *arg_hint(const hd_param_info *param, struct arena *arena);
/* An argument that it would take. */
const char *arg_example(const hd_param_info *param, struct arena *arena);

size_t arg_buffer_bytes(const struct buffer *b);
/* "argument 3", "variable count" */
const char *buffer_label(const struct buffer *b, struct arena *arena);
/* "f32[32,32]" */
const char *buffer_type_text(const struct buffer *b, struct arena *arena);

/* The parameters of a launch; buffers have memory by now. */
void arg_pack(const struct args *args, hd_kernel *kernel, hd_launch_config *config);

/* Its grid, clusters, block and shared memory, as the options say; the kernel's own block where
 * they say none. */
struct options;
void arg_shape(const struct options *o, const hd_kernel_info *info, hd_launch_config *config);

#endif
