/* See cache.h. */
#include "jit/cache.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An entry: this, and the object. */
struct header {
    char magic[8];
    struct cache_key key;
    uint64_t bytes, n_sites, sum;
};

static const char magic[8] = "heddle1";
static const char suffix[] = ".code";

/* ---- names ---- */

static void mix(struct cache_key *k, uint64_t v)
{
    static const uint64_t odd[2] = {0x9E3779B97F4A7C15u, 0xC2B2AE3D27D4EB4Fu};
    for (int i = 0; i < 2; i++) {
        uint64_t h = (k->at[i] ^ v) * odd[i];
        k->at[i] = (h ^ h >> 29) + 0x165667B19E3779F9u * (uint64_t)(i + 1);
    }
}

static void mix_file(struct cache_key *k, const char *path)
{
    struct stat s = {0};
    if (path && stat(path, &s) == 0) {
        mix(k, (uint64_t)s.st_size);
        mix(k, (uint64_t)s.st_mtim.tv_sec);
        mix(k, (uint64_t)s.st_mtim.tv_nsec);
    }
}

struct cache_key cache_key(const uint8_t *request, size_t bytes, enum jit_tier tier, const char *program)
{
    struct cache_key k = {{1, 2}};
    Dl_info self;
    mix(&k, bytes);
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, request + i, bytes - i < 8 ? bytes - i : 8);
        mix(&k, word);
    }
    mix(&k, tier);
    mix(&k, JIT_LAYOUT);
    mix_file(&k, program);
    mix_file(&k, dladdr((void *)(uintptr_t)cache_key, &self) ? self.dli_fname : NULL);
    return k;
}

/* ---- reading ---- */

bool cache_folder(char *path, size_t size)
{
    const char *own = secure_getenv("HEDDLE_CACHE"), *xdg = secure_getenv("XDG_CACHE_HOME"),
               *home = secure_getenv("HOME");
    int n = 0;
    if (own && strcmp(own, "off") == 0)
        return false;
    if (own && *own)
        n = snprintf(path, size, "%s", own);
    else if (xdg && *xdg)
        n = snprintf(path, size, "%s/heddle", xdg);
    else if (home && *home)
        n = snprintf(path, size, "%s/.cache/heddle", home);
    return n > 0 && (size_t)n < size;
}

static bool entry_path(const struct cache_key *key, char *path, size_t size)
{
    if (!cache_folder(path, size))
        return false;
    size_t n = strlen(path);
    return (size_t)snprintf(path + n, size - n, "/%016llx%016llx%s", (unsigned long long)key->at[0],
                            (unsigned long long)key->at[1], suffix) < size - n;
}

static uint64_t sum_of(const uint8_t *p, size_t bytes)
{
    uint64_t h = bytes;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ p[i]) * 0x100000001B3u;
    return h;
}

static bool read_whole(FILE *f, const struct cache_key *key, struct jit_result *r)
{
    struct header h;
    bool good = fread(&h, sizeof h, 1, f) == 1 && memcmp(h.magic, magic, sizeof magic) == 0 &&
                memcmp(&h.key, key, sizeof *key) == 0 && h.bytes < CACHE_LIMIT_BYTES && h.n_sites <= UINT32_MAX;
    uint8_t *object = good ? malloc(h.bytes + 1) : NULL;
    good = object && fread(object, 1, h.bytes + 1, f) == h.bytes && sum_of(object, h.bytes) == h.sum;
    if (!good) {
        free(object);
        return false;
    }
    r->object = object;
    r->bytes = h.bytes;
    r->n_sites = (uint32_t)h.n_sites;
    return true;
}

bool cache_load(const struct cache_key *key, struct jit_result *r)
{
    char path[PATH_MAX];
    FILE *f = entry_path(key, path, sizeof path) ? fopen(path, "rb") : NULL;
    if (!f)
        return false;
    bool good = read_whole(f, key, r);
    fclose(f);
    if (good)
        utimensat(AT_FDCWD, path, NULL, 0); /* used just now */
    else
        unlink(path);
    return good;
}

/* ---- all entries ---- */

struct entry {
    char path[PATH_MAX];
    uint64_t bytes;
    struct timespec used;
};

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct entry *)a)->used, *y = &((const struct entry *)b)->used;
    return x->tv_sec != y->tv_sec ? (x->tv_sec < y->tv_sec ? -1 : 1)
                                  : (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* The entries, those used longest ago first; the caller frees *list. */
static size_t list_entries(struct entry **list)
{
    char folder[PATH_MAX - NAME_MAX - 2];
    size_t n = 0, capacity = 0;
    DIR *d = cache_folder(folder, sizeof folder) ? opendir(folder) : NULL;
    *list = NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t length = strlen(e->d_name);
        struct stat s;
        if (length <= sizeof suffix || strcmp(e->d_name + length + 1 - sizeof suffix, suffix) != 0)
            continue;
        if (n == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            struct entry *more = realloc(*list, capacity * sizeof **list);
            if (!more)
                break;
            *list = more;
        }
        struct entry *entry = &(*list)[n];
        snprintf(entry->path, sizeof entry->path, "%s/%s", folder, e->d_name);
        if (stat(entry->path, &s) == 0) {
            entry->bytes = (uint64_t)s.st_size;
            entry->used = s.st_mtim;
            n++;
        }
    }
    if (d)
        closedir(d);
    if (n)
        qsort(*list, n, sizeof **list, by_use);
    return n;
}

void cache_survey(size_t *entries, uint64_t *bytes, bool clear)
{
    struct entry *list;
    *entries = list_entries(&list);
    *bytes = 0;
    for (size_t i = 0; i < *entries; i++) {
        *bytes += list[i].bytes;
        if (clear)
            unlink(list[i].path);
    }
    free(list);
}

/* Removes what was used longest ago until a quarter is free. */
static void make_room(void)
{
    struct entry *list;
    size_t n = list_entries(&list);
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += list[i].bytes;
    for (size_t i = 0; bytes > CACHE_LIMIT_BYTES && i < n && bytes > CACHE_LIMIT_BYTES / 4 * 3; i++) {
        unlink(list[i].path);
        bytes -= list[i].bytes;
    }
    free(list);
}

/* ---- writing ---- */

static void make_folder(const char *path)
{
    char part[PATH_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (char *p = part + 1; *p; p++)
        if (*p == '/') {
            *p = 0;
            mkdir(part, 0700);
            *p = '/';
        }
}

void cache_store(const struct cache_key *key, const struct jit_result *r)
{
    char path[PATH_MAX], aside[PATH_MAX + 32];
    if (!entry_path(key, path, sizeof path))
        return;
    make_folder(path);
    snprintf(aside, sizeof aside, "%s.%d.%p", path, (int)getpid(), (const void *)r);
    FILE *f = fopen(aside, "wbx");
    if (!f)
        return; /* nothing is kept, nothing is lost */
    struct header h = {.key = *key, .bytes = r->bytes, .n_sites = r->n_sites, .sum = sum_of(r->object, r->bytes)};
    memcpy(h.magic, magic, sizeof magic);
    bool good = fwrite(&h, sizeof h, 1, f) == 1 && fwrite(r->object, 1, r->bytes, f) == r->bytes;
    good = fclose(f) == 0 && good;
    if (!good || rename(aside, path) != 0)
        unlink(aside);
    make_room();
}
