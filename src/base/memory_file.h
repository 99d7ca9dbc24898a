/* Files in memory that processes share. They can grow and never shrink (F_SEAL_SHRINK), so that no
 * other process can take away what is mapped of one, which would end whoever touches it by a
 * signal.
 */
#ifndef HEDDLE_BASE_MEMORY_FILE_H
#define HEDDLE_BASE_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* A new file of `bytes` bytes of zeros, or -1 with errno set. */
int memory_file_new(size_t bytes);
/* Makes it `bytes` long; false with errno set. */
bool memory_file_resize(int file, size_t bytes);
/* Opens that of a path as of /proc/PID/fd, whoever names it: -1 with errno set, EINVAL where it is
 * none. Nothing else is opened, as that may have an effect or never end. */
int memory_file_open(const char *path);
/* Whether a descriptor, from wherever, is one. */
bool memory_file_is(int file);

#endif
