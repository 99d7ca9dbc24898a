/* The caller's structs, which may be of another version than the library's: see include/heddle.h,
 * "how it grows". Private to api/. */
#ifndef HEDDLE_API_SIZED_H
#define HEDDLE_API_SIZED_H

#include "heddle.h"

enum { /* FIRST_hd_launch_config: its size in the first version */
#define SIZED(type, bytes) FIRST_##type = bytes,
#include "api/sized.def"
#undef SIZED
};

/* Fills *own, a `type`, from the caller's struct, or with zeros if that is NULL. Errors:
 * HD_ERROR_INVALID_VALUE (too small), HD_ERROR_NOT_SUPPORTED (members are set that this library
 * does not know). */
#define SIZED_READ(type, own, given, bytes) sized_read(own, sizeof(type), FIRST_##type, given, bytes)
hd_result sized_read(void *own, size_t own_bytes, size_t first_bytes, const void *given, size_t bytes);
/* The same for a struct that is read once: *view is the caller's struct, or becomes `own` if the
 * sizes differ. */
#define SIZED_VIEW(type, view, own, bytes)                                                                             \
    ((bytes) == sizeof(type) ? HD_SUCCESS                                                                              \
                             : sized_view((const void **)(view), own, SIZED_READ(type, own, *(view), bytes)))
static inline hd_result sized_view(const void **view, const void *own, hd_result read)
{
    *view = own;
    return read;
}

/* Copies as much of *own as the caller's struct has room for; NULL is allowed. */
#define SIZED_WRITE(to, bytes, own) sized_write(to, bytes, own, sizeof *(own))
void sized_write(void *to, size_t bytes, const void *own, size_t own_bytes);

#endif
