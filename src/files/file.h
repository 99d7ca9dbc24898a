/* Files: read whole, written whole or not at all. */
#ifndef HEDDLE_FILES_FILE_H
#define HEDDLE_FILES_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct file_bytes {
    char *bytes; /* from malloc, ended by a zero that does not count */
    size_t n;
};

/* Reads a whole file ("-": standard input), and of a device, which may have no end, `wanted` bytes;
 * where they are 0, as many as it has, and few. Returns NULL, or what went wrong, in the arena. */
const char *file_read(struct arena *arena, const char *path, uint64_t wanted, struct file_bytes *f);
/* The same for PTX text; says what a program, a cubin or a fat binary is, and what helps. */
const char *file_read_ptx(struct arena *arena, const char *path, struct file_bytes *f);

/* Is it for file_read_ptx(), by its name or by how it begins, rather than a program? */
bool file_is_ptx(const char *path);

/* A file being written. It gets its name when it is complete: what stood there before is replaced
 * at once. */
struct file_writer {
    const char *path; /* as given */
    char *target;     /* what it will be: path with its links followed */
    char *temporary;  /* written to; NULL where `path` is no regular file (a pipe, /dev/stdout) */
    int fd;
    bool is_outside;   /* of the sandbox: outputs.h has the rest */
    const char *error; /* of the first write that failed, or NULL; in the arena */
    struct arena *arena;
};

/* Nothing stands at `path` ("-": standard output) before file_finish. All three return NULL or what
 * went wrong, in the arena; a failed file leaves nothing behind. */
const char *file_create(struct file_writer *w, struct arena *arena, const char *path);
const char *file_write(struct file_writer *w, const void *bytes, size_t n);
const char *file_finish(struct file_writer *w);
/* All of it at once. */
const char *file_write_whole(struct arena *arena, const char *path, const void *bytes, size_t n);

/* Can a file be created there? Asked before a long computation; NULL, or why not. */
const char *file_may_create(struct arena *arena, const char *path);

/* ".npy" of "a/b.npy"; "" where the name has none. */
const char *file_extension(const char *path);
/* "b" of "a/b.npy", in the arena. */
const char *file_stem(struct arena *arena, const char *path);
/* The program's path, as the shell would find it, in the arena; NULL where there is none. */
const char *file_find_program(const char *name, struct arena *arena);
/* A device or a pipe: to be written to, never replaced or removed. */
bool file_is_special(const char *path);

#endif
