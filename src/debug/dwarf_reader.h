/* Debugging information of device code, read by libdw, in a library of its own that is loaded when
 * somebody asks for a variable: the debugger lays the sections of a PTX text out as an ELF file
 * (sections.h), and this finds variables and types there. */
#ifndef HEDDLE_DEBUG_DWARF_READER_H
#define HEDDLE_DEBUG_DWARF_READER_H

#include "debug/type.h"

enum dwarf_kind {
    DWARF_GONE, /* `why` */
    /* `number`: nvcc's and LLVM's, whose bytes are the register's name: 0x257232 is %r2. */
    DWARF_REGISTER,
    /* At `address`, or at what the register `number` holds, and `offset` bytes on. */
    DWARF_MEMORY,
    DWARF_VALUE,   /* `address` has the bytes of the value */
    DWARF_DYNAMIC, /* dynamic shared memory of this name */
};

struct dwarf_variable {
    const char *name;
    const struct c_type *type;
    enum dwarf_kind kind;
    const char *why;
    uint64_t number, address; /* number 0: none */
    int64_t offset;
    bool is_parameter, is_global;
    uint32_t parameter; /* is_parameter: which, from 1 on */
};

/* A call that is inlined: of what, and the line of the call. */
struct dwarf_call {
    const char *function;
    uint32_t file; /* as .file numbers them */
    uint32_t line;
};

/* What the library has, as `heddle_dwarf`. Names and types live as long as the reader. */
struct dwarf_reader_calls {
    /* NULL where it cannot be read. The image stays the caller's, and as it is. */
    void *(*open)(const void *image, size_t bytes);
    void (*close)(void *reader);
    /* Variables that are visible at a place in the code, from the innermost block out: in the
     * function, or so many inlined calls in. Returns how many, at most `most`. */
    unsigned (*variables)(void *reader, uint64_t at, unsigned level, struct dwarf_variable *to, unsigned most);
    /* A constant that no variable has the name of, but a template's argument or a
     * static member, "N" or "S::N". */
    bool (*constant)(void *reader, uint64_t at, unsigned level, const char *name, struct dwarf_variable *to);
    /* The inlined calls at a place in the code, from the outermost in. */
    unsigned (*calls)(void *reader, uint64_t at, struct dwarf_call *to, unsigned most);
    /* What the function at a place in the code returns; NULL: nothing, or not known. */
    const struct c_type *(*returns)(void *reader, uint64_t at);
    /* A struct, union, enumeration or typedef by its name; NULL: there is none. */
    const struct c_type *(*type)(void *reader, const char *name);
    /* An enumerator by its name, "RED", or "color::RED"; NULL: there is none. */
    const struct c_type *(*enumerator)(void *reader, const char *name, int64_t *value);
};

#endif
