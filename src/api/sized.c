/* See sized.h. */
#include "api/sized.h"

#include <string.h>

#define SIZED(type, bytes) _Static_assert(sizeof(type) >= (bytes), #type " never becomes smaller");
#include "api/sized.def"
#undef SIZED

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

hd_result sized_read(void *own, size_t own_bytes, size_t first_bytes, const void *given, size_t bytes)
{
    const unsigned char *p = given;
    memset(own, 0, own_bytes);
    if (!given)
        return HD_SUCCESS;
    if (bytes < first_bytes)
        return HD_ERROR_INVALID_VALUE;
    for (size_t i = own_bytes; i < bytes; i++)
        if (p[i])
            return HD_ERROR_NOT_SUPPORTED;
    memcpy(own, given, least(own_bytes, bytes));
    return HD_SUCCESS;
}

void sized_write(void *to, size_t bytes, const void *own, size_t own_bytes)
{
    if (!to)
        return;
    memset(to, 0, bytes);
    memcpy(to, own, least(own_bytes, bytes));
}
