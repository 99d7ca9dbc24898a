/* Writes fat binaries: a container, and in it an entry for each PTX text, compressed with zstd as
 * nvcc's are. The format is that which cuda/image/fatbin.c reads. */
#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>

#include "cc/cc.h"

struct container {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of the entries */
};

struct entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t payload_bytes; /* a multiple of 8 */
    uint32_t compressed_bytes;
    uint32_t options_at;
    uint16_t minor, major; /* of the PTX ISA */
    uint32_t arch;
    uint64_t unused;
    uint64_t flags;
    uint64_t unused2;
    uint64_t uncompressed_bytes;
    uint64_t options[2]; /* for ptxas: none */
};
_Static_assert(sizeof(struct container) == 16 && sizeof(struct entry) == 80, "as in the file");

enum { KIND_PTX = 1, FLAG_64_BIT = 0x1, FLAG_LINUX = 0x10, FLAG_ZSTD = 0x8000, LEVEL = 3 };

/* "major.minor" behind the first ".version" of the text. */
static void ptx_version(const struct cc_ptx *ptx, struct entry *e)
{
    static const char directive[] = ".version";
    const char *at = memmem(ptx->text, ptx->n, directive, sizeof directive - 1);
    char *end;
    if (!at)
        return;
    e->major = (uint16_t)strtoul(at + sizeof directive - 1, &end, 10);
    e->minor = *end == '.' ? (uint16_t)strtoul(end + 1, NULL, 10) : 0;
}

/* Appends an entry to `to`, which has room for it; returns its length,
 * 0 where compression fails. */
static size_t write_entry(char *to, const struct cc_ptx *ptx)
{
    struct entry e = {.kind = KIND_PTX,
                      .version = 0x101,
                      .header_bytes = sizeof e,
                      .options_at = offsetof(struct entry, options),
                      .arch = (uint32_t)strtoul(ptx->arch, NULL, 10),
                      .flags = FLAG_64_BIT | FLAG_LINUX | FLAG_ZSTD,
                      .uncompressed_bytes = ptx->n};
    ptx_version(ptx, &e);
    size_t n = ZSTD_compress(to + sizeof e, ZSTD_compressBound(ptx->n), ptx->text, ptx->n, LEVEL);
    if (ZSTD_isError(n))
        return 0;
    e.compressed_bytes = (uint32_t)n;
    e.payload_bytes = (n + 7) & ~(size_t)7;
    memset(to + sizeof e + n, 0, e.payload_bytes - n);
    memcpy(to, &e, sizeof e);
    return sizeof e + e.payload_bytes;
}

void *cc_fatbin(const struct cc_ptx *ptx, size_t n, size_t *bytes)
{
    size_t room = sizeof(struct container);
    for (size_t i = 0; i < n; i++)
        room += sizeof(struct entry) + ZSTD_compressBound(ptx[i].n) + 8;
    char *image = malloc(room);
    size_t at = sizeof(struct container);
    for (size_t i = 0; i < n && image; i++) {
        size_t more = write_entry(image + at, &ptx[i]);
        if (!more) {
            free(image);
            return NULL;
        }
        at += more;
    }
    struct container c = {.magic = 0xba55ed50, .version = 1, .header_bytes = sizeof c, .bytes = at - sizeof c};
    if (image)
        memcpy(image, &c, sizeof c);
    *bytes = at;
    return image;
}
