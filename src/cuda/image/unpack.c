/* See unpack.h. */
#include "cuda/image/unpack.h"

#include <limits.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };

/* limit for machine code that is read */
static const uint64_t max_code_bytes = 1ull << 26;

enum image_result image_broken(struct image *image, const char *what)
{
    snprintf(image->why, sizeof image->why, "the fat binary is broken: %s", what);
    return IMAGE_INVALID;
}

enum image_result image_too_much(struct image *image)
{
    return image_broken(image, "it has more than 1 GiB of PTX");
}

enum image_result image_no_memory(struct image *image)
{
    snprintf(image->why, sizeof image->why, "no memory for the PTX of the image");
    return IMAGE_NO_MEMORY;
}

bool image_add_text(struct image *image, char *text, size_t bytes, unsigned arch)
{
    struct image_text *new = text ? VEC_ADD(&image->texts) : NULL;
    if (!new) {
        free(text);
        return false;
    }
    *new = (struct image_text){text, bytes, arch};
    image->bytes += bytes;
    return true;
}

enum image_result image_take(struct image *to, struct image *from)
{
    if (from->bytes > MAX_TEXT_BYTES - to->bytes)
        return image_too_much(to);
    if (!VEC_RESERVE(&to->texts, from->texts.n))
        return image_no_memory(to);
    for (uint32_t i = 0; i < from->texts.n; i++)
        to->texts.at[to->texts.n++] = from->texts.at[i];
    to->bytes += from->bytes;
    from->texts.n = 0;
    from->bytes = 0;
    return IMAGE_OK;
}

char *image_copy_text(const void *from, size_t bytes)
{
    char *text = malloc(bytes + 1);
    if (text) {
        memcpy(text, from, bytes);
        text[bytes] = 0;
    }
    return text;
}

/* Can a compressed text be as long as its entry says? Asked before memory is allocated. */
static bool can_be(const struct candidate *c, uint64_t bytes)
{
    /* A block of zstd can repeat one byte for 128 KB. */
    enum { LZ4_GREATEST_RATIO = 255, ZSTD_LEAST_BLOCK = 3 };
    uint64_t packed = c->entry.compressed_bytes;
    if (!(c->entry.flags & FLAG_ZSTD))
        return packed <= INT_MAX && bytes <= packed * LZ4_GREATEST_RATIO;
    unsigned long long says = ZSTD_getFrameContentSize(c->payload, packed);
    return says != ZSTD_CONTENTSIZE_ERROR && (says == ZSTD_CONTENTSIZE_UNKNOWN || says == bytes) &&
           bytes <= packed / ZSTD_LEAST_BLOCK * ZSTD_BLOCKSIZE_MAX;
}

static bool decompress(char *text, const struct candidate *c, uint64_t bytes)
{
    size_t packed = c->entry.compressed_bytes;
    if (c->entry.flags & FLAG_ZSTD)
        return ZSTD_decompress(text, bytes, c->payload, packed) == bytes;
    return LZ4_decompress_safe((const char *)c->payload, text, (int)packed, (int)bytes) == (int)bytes;
}

/* Only zeros may follow a text. */
static bool ends(const char *text, size_t from, size_t bytes)
{
    return from == bytes || (text[from] == 0 && memcmp(text + from, text + from + 1, bytes - from - 1) == 0);
}

enum image_result entry_unpack(struct image *image, const struct candidate *c)
{
    const struct entry *e = &c->entry;
    uint64_t bytes = e->compressed_bytes ? e->uncompressed_bytes : e->payload_bytes;
    if (e->compressed_bytes > e->payload_bytes)
        return image_broken(image, "the sizes of a PTX text are invalid");
    if (bytes > MAX_TEXT_BYTES - image->bytes)
        return image_too_much(image);
    if (e->compressed_bytes && !can_be(c, bytes))
        return image_broken(image, "a compressed PTX text cannot be unpacked");
    char *text = malloc(bytes + 1);
    if (!text)
        return image_no_memory(image);
    text[bytes] = 0;
    bool ok = true;
    if (!e->compressed_bytes)
        memcpy(text, c->payload, bytes);
    else
        ok = decompress(text, c, bytes);
    size_t length = ok ? strlen(text) : 0;
    if (!ok || !ends(text, length, bytes)) {
        free(text);
        return image_broken(image, ok ? "a PTX text contains a zero byte" : "a compressed PTX text cannot be unpacked");
    }
    return image_add_text(image, text, length, e->arch) ? IMAGE_OK : image_no_memory(image);
}

static void note_kernel(void *data, const char *name, const struct cubin_kernel *k)
{
    struct image *image = data;
    char *copy = image_copy_text(name, strlen(name));
    struct image_kernel *new = copy ? VEC_ADD(&image->kernels) : NULL;
    if (new)
        *new = (struct image_kernel){copy, *k};
    else
        free(copy);
}

void *entry_code(const struct candidate *c, size_t *bytes)
{
    const struct entry *e = &c->entry;
    *bytes = e->compressed_bytes ? e->uncompressed_bytes : e->payload_bytes;
    bool possible = e->compressed_bytes <= e->payload_bytes && *bytes <= max_code_bytes &&
                    (!e->compressed_bytes || can_be(c, *bytes));
    char *code = possible ? malloc(*bytes + 1) : NULL; /* aligned, unlike the payload */
    if (!code)
        return NULL;
    if (!e->compressed_bytes) {
        memcpy(code, c->payload, *bytes);
    } else if (!decompress(code, c, *bytes)) {
        free(code);
        return NULL;
    }
    return code;
}

void entry_read_code(struct image *image, const struct candidate *c)
{
    size_t bytes;
    void *code = entry_code(c, &bytes);
    if (code)
        cubin_kernels(code, bytes, note_kernel, image);
    free(code);
}
