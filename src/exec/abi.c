/* See abi.h. */
#include "exec/abi.h"
#include "exec/block.h"
#include "exec/launch.h"
#include "exec/worker.h"

#include <stddef.h>

const struct abi abi = {
#define FIELD(record, bytes, member) .record##_##member = offsetof(struct record, member),
#define ARRAY(record, member)        .record##_##member = offsetof(struct record, member),
#define SIZE(record)                 .record##_size = sizeof(struct record),
#include "exec/abi.def"
};

#define FIELD(record, bytes, member)                                                                                   \
    _Static_assert(sizeof(((struct record *)0)->member) == bytes,                                                      \
                   "compiled code takes " #member " for " #bytes " bytes");
#include "exec/abi.def"

_Static_assert(offsetof(struct warp, mask) == offsetof(struct warp, at_block) + 4, "two halves of a word");
uint32_t abi_number(void)
{
    const uint8_t *bytes = (const uint8_t *)&abi;
    uint32_t h = 2166136261u ^ ABI_VERSION; /* FNV-1a */
    for (size_t i = 0; i < sizeof abi; i++)
        h = (h ^ bytes[i]) * 16777619u;
    return h;
}
