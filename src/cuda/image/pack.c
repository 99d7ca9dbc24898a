/* See pack.h. */
#include "cuda/image/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

struct pack {
    char *path;
    const unsigned char *bytes; /* mapped */
    uint64_t n;
    struct pack_header header;
    char **facts; /* malloc'ed, each and the list; NULL ends it */
};

static bool broken(const struct pack *p, char *why, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static bool broken(const struct pack *p, char *why, size_t size, const char *format, ...)
{
    char what[200];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(why, size, "the pack %s is broken: %s", p->path, what);
    return false;
}

/* ---- opening ---- */

static bool part_fits(const struct pack *p, const struct pack_part *part, size_t each, uint64_t most)
{
    return part->at <= p->n && part->n <= most && part->n <= (p->n - part->at) / each;
}

static bool check_header(struct pack *p, char *why, size_t size)
{
    struct pack_header *h = &p->header;
    if (p->n < sizeof *h || memcmp(p->bytes, PACK_MAGIC, sizeof h->magic) != 0) {
        snprintf(why, size, "%s is not a pack of kernels (`heddle pack` makes packs)", p->path);
        return false;
    }
    memcpy(h, p->bytes, sizeof *h);
    if (h->bytes != p->n)
        return broken(p, why, size, "the file has %llu bytes, but its header says %llu", (unsigned long long)p->n,
                      (unsigned long long)h->bytes);
    if (!part_fits(p, &h->facts, 1, PACK_MAX_FACTS) || !part_fits(p, &h->names, 1, UINT32_MAX) ||
        !part_fits(p, &h->symbols, sizeof(struct pack_symbol), UINT32_MAX) ||
        !part_fits(p, &h->slices, sizeof(struct pack_slice), UINT32_MAX) ||
        !part_fits(p, &h->blocks, sizeof(struct pack_block), UINT32_MAX))
        return broken(p, why, size, "a part of it lies outside of the file");
    if (!h->names.n || p->bytes[h->names.at + h->names.n - 1] != 0)
        return broken(p, why, size, "its list of names is not terminated");
    return true;
}

/* Reads the lines of facts. Returns false if memory is exhausted, or a line is invalid. */
static bool read_facts(struct pack *p, char *why, size_t size)
{
    const char *at = (const char *)p->bytes + p->header.facts.at, *end = at + p->header.facts.n;
    size_t n = 0, lines = 1;
    for (const char *c = at; c < end; c++)
        lines += *c == '\n';
    p->facts = calloc(lines + 1, sizeof *p->facts);
    while (p->facts && at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((next ? next : end) - at);
        if (memchr(at, 0, length) || !memchr(at, '=', length))
            return broken(p, why, size, "a line of its facts is not NAME=VALUE");
        p->facts[n] = strndup(at, length);
        if (!p->facts[n++])
            break;
        at += length + 1;
    }
    if (p->facts && at >= end)
        return true;
    snprintf(why, size, "%s: no memory", p->path);
    return false;
}

struct pack *pack_open(const char *path, char *why, size_t size)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
        snprintf(why, size, "%s: %s", path, fd < 0 ? strerror(errno) : "this is not a pack of kernels");
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct pack *p = calloc(1, sizeof *p);
    void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (p)
        *p =
            (struct pack){.path = strdup(path), .bytes = bytes == MAP_FAILED ? NULL : bytes, .n = (uint64_t)st.st_size};
    if (!p || !p->path || !p->bytes) {
        snprintf(why, size, "%s: out of memory to map it", path);
        if (!p && bytes != MAP_FAILED)
            munmap(bytes, (size_t)st.st_size);
        pack_close(p);
        return NULL;
    }
    if (!check_header(p, why, size) || !read_facts(p, why, size)) {
        pack_close(p);
        return NULL;
    }
    return p;
}

void pack_close(struct pack *p)
{
    if (!p)
        return;
    for (char **f = p->facts; f && *f; f++)
        free(*f);
    free(p->facts);
    if (p->bytes)
        munmap((void *)p->bytes, (size_t)p->n);
    free(p->path);
    free(p);
}

/* ---- what it says of itself ---- */

const char *pack_path(const struct pack *p)
{
    return p->path;
}

const char *pack_fact_line(const struct pack *p, size_t i)
{
    size_t n = 0;
    while (p->facts[n] && n < i)
        n++;
    return p->facts[n];
}

const char *pack_fact(const struct pack *p, const char *name, unsigned i)
{
    size_t n = strlen(name);
    for (char *const *f = p->facts; *f; f++)
        if (strncmp(*f, name, n) == 0 && (*f)[n] == '=' && i-- == 0)
            return *f + n + 1;
    return NULL;
}

size_t pack_count(const struct pack *p)
{
    return (size_t)p->header.symbols.n;
}

/* ---- finding ---- */

/* Entries of the tables are not aligned. */
static void read_entry(const struct pack *p, const struct pack_part *part, uint64_t i, void *entry, size_t bytes)
{
    memcpy(entry, p->bytes + part->at + i * bytes, bytes);
}

/* The names end with a zero. */
static const char *name_at(const struct pack *p, uint32_t at)
{
    return at < p->header.names.n ? (const char *)p->bytes + p->header.names.at + at : NULL;
}

bool pack_at(const struct pack *p, size_t i, struct pack_found *found, char *why, size_t size)
{
    if (i >= p->header.symbols.n)
        return false;
    read_entry(p, &p->header.symbols, i, &found->symbol, sizeof found->symbol);
    found->name = name_at(p, found->symbol.name);
    found->literal = name_at(p, found->symbol.literal);
    if (!found->name || !found->literal || found->symbol.slice >= p->header.slices.n)
        return broken(p, why, size, "entry %zu lies outside of it", i);
    return true;
}

bool pack_find(const struct pack *p, enum pack_kind kind, const char *name, struct pack_found *found, char *why,
               size_t size)
{
    size_t low = 0, high = pack_count(p);
    *why = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (!pack_at(p, middle, found, why, size))
            return false;
        int order = strcmp(name, found->name);
        order = order ? order : (int)kind - (int)found->symbol.kind;
        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* ---- texts ---- */

/* Unpacks a block, into memory from malloc; NULL with the error in `why`. */
static char *unpack(const struct pack *p, uint32_t number, struct pack_block *b, char *why, size_t size)
{
    if (number >= p->header.blocks.n)
        return broken(p, why, size, "a slice names block %u of %llu", number, (unsigned long long)p->header.blocks.n),
               NULL;
    read_entry(p, &p->header.blocks, number, b, sizeof *b);
    bool fits = b->at <= p->n && b->packed <= p->n - b->at && b->bytes <= PACK_MAX_BLOCK;
    const unsigned char *packed = p->bytes + (fits ? b->at : 0);
    if (!fits || ZSTD_getFrameContentSize(packed, b->packed) != b->bytes)
        return broken(p, why, size, "block %u has another length than its header says", number), NULL;
    char *bytes = malloc((size_t)b->bytes + 1);
    if (!bytes) {
        snprintf(why, size, "%s: no memory for a block of %u bytes", p->path, b->bytes);
        return NULL;
    }
    if (ZSTD_decompress(bytes, b->bytes, packed, b->packed) != b->bytes) {
        free(bytes);
        return broken(p, why, size, "block %u cannot be unpacked", number), NULL;
    }
    return bytes;
}

char *pack_text(const struct pack *p, uint32_t number, size_t *bytes, char *why, size_t size)
{
    struct pack_slice s;
    struct pack_block b;
    if (number >= p->header.slices.n)
        return broken(p, why, size, "there is no slice %u", number), NULL;
    read_entry(p, &p->header.slices, number, &s, sizeof s);
    char *block = unpack(p, s.block, &b, why, size);
    if (!block)
        return NULL;
    if (s.at > b.bytes || s.bytes > b.bytes - s.at || memchr(block + s.at, 0, s.bytes)) {
        free(block);
        return broken(p, why, size, "slice %u lies outside its block", number), NULL;
    }
    memmove(block, block + s.at, s.bytes);
    block[s.bytes] = 0;
    *bytes = s.bytes;
    return block;
}
