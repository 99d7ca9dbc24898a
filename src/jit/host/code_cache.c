/* See code_cache.h. */
#include "jit/host/code_cache.h"

#include <blake2.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"

enum { SUM_BYTES = 32, NAME_BYTES = 2 * sizeof(struct code_cache_key) + 8 };

/* An entry: this header, and the object. The sum covers all other bytes. */
struct header {
    char magic[8];
    uint64_t bytes, n_inline_caches;
    struct code_cache_key key;
    uint8_t sum[SUM_BYTES];
};

static const char magic[8] = "heddle2";
static const char suffix[] = ".code";
/* Temporary files are written in much less time; older ones belong to processes that died. */
enum { ASIDE_SECONDS = 600 };

__attribute__((format(printf, 2, 3))) static bool refuse(struct code_cache_refusal *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    return false;
}

/* ---- names ---- */

static void hash_number(blake2b_state *h, uint64_t v)
{
    blake2b_update(h, (const uint8_t *)&v, sizeof v);
}

static void hash_file(blake2b_state *h, const char *path)
{
    struct stat s = {0};
    bool found = path && stat(path, &s) == 0;
    const uint64_t of_file[] = {found, (uint64_t)s.st_size, (uint64_t)s.st_mtim.tv_sec, (uint64_t)s.st_mtim.tv_nsec};
    blake2b_update(h, (const uint8_t *)of_file, sizeof of_file);
}

struct code_cache_key code_cache_key(const uint8_t *request, size_t bytes, enum jit_tier tier, const char *program,
                                     bool is_confined)
{
    struct code_cache_key k;
    blake2b_state h;
    Dl_info self;
    blake2b_init(&h, sizeof k.at);
    blake2b_update(&h, (const uint8_t *)magic, sizeof magic);
    hash_number(&h, tier);
    hash_number(&h, is_confined);
    hash_number(&h, wire_layout());
    hash_file(&h, program);
    hash_file(&h, dladdr((void *)(uintptr_t)code_cache_key, &self) ? self.dli_fname : NULL);
    hash_number(&h, bytes);
    blake2b_update(&h, request, bytes);
    blake2b_final(&h, k.at, sizeof k.at);
    return k;
}

static void entry_name(const struct code_cache_key *key, char name[NAME_BYTES])
{
    for (size_t i = 0; i < sizeof key->at; i++)
        snprintf(name + 2 * i, 3, "%02x", key->at[i]);
    strcpy(name + 2 * sizeof key->at, suffix);
}

/* ---- the folder ---- */

bool code_cache_folder(char *path, size_t size)
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

/* Does it belong to the user, with nobody else able to change it? For an open file or folder: its
 * name may refer to another one by now. */
static bool is_own(int file, mode_t type, const char *name, struct code_cache_refusal *why)
{
    struct stat s;
    if (fstat(file, &s) != 0)
        return refuse(why, "%s: %s", name, strerror(errno));
    if ((s.st_mode & S_IFMT) != type)
        return refuse(why, "%s is no %s", name, type == S_IFDIR ? "folder" : "file");
    if (s.st_uid != geteuid())
        return refuse(why, "%s belongs to user %u, and this process is user %u's", name, s.st_uid, geteuid());
    if (s.st_mode & (S_IWGRP | S_IWOTH))
        return refuse(why, "%s can be written by others (mode %04o): chmod go-w", name, s.st_mode & 07777);
    return true;
}

/* Returns -1 if there is none, or none that may be used. */
static int open_folder(struct code_cache_refusal *why)
{
    char path[PATH_MAX];
    why->text[0] = 0;
    int folder = code_cache_folder(path, sizeof path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (folder < 0 || is_own(folder, S_IFDIR, path, why))
        return folder;
    close(folder);
    return -1;
}

/* ---- reading ---- */

static void sum_of(const struct header *header, const uint8_t *object, uint8_t sum[SUM_BYTES])
{
    blake2b_state h;
    blake2b_init(&h, SUM_BYTES);
    blake2b_update(&h, (const uint8_t *)header, offsetof(struct header, sum));
    blake2b_update(&h, object, header->bytes);
    blake2b_final(&h, sum, SUM_BYTES);
}

static bool read_all(int file, void *to, size_t bytes)
{
    for (uint8_t *at = to; bytes;) {
        ssize_t n = read(file, at, bytes);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return false;
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool read_whole(int file, const struct code_cache_key *key, struct jit_result *r)
{
    struct header h;
    uint8_t sum[SUM_BYTES], *object = NULL, more;
    bool good = read_all(file, &h, sizeof h) && memcmp(h.magic, magic, sizeof magic) == 0 &&
                memcmp(&h.key, key, sizeof *key) == 0 && h.bytes < CODE_CACHE_LIMIT_BYTES &&
                h.n_inline_caches <= UINT32_MAX && (object = malloc(h.bytes + 1)) && read_all(file, object, h.bytes) &&
                read(file, &more, 1) == 0;
    if (good)
        sum_of(&h, object, sum);
    if (!good || memcmp(sum, h.sum, sizeof sum) != 0) {
        free(object);
        return false;
    }
    r->object = object;
    r->bytes = h.bytes;
    r->n_inline_caches = (uint32_t)h.n_inline_caches;
    return true;
}

/* Reads an existing file of any kind: a pipe is not waited for, a link not followed. */
static bool load_from(int folder, const struct code_cache_key *key, struct jit_result *r,
                      struct code_cache_refusal *why)
{
    char name[NAME_BYTES];
    entry_name(key, name);
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0 && errno == ENOENT)
        return false;
    bool good = file >= 0 ? is_own(file, S_IFREG, name, why)
                          : refuse(why, "%s: %s", name, errno == ELOOP ? "it is a link" : strerror(errno));
    if (good && !read_whole(file, key, r))
        good = refuse(why, "%s is damaged, or belongs to another kernel", name);
    if (good)
        futimens(file, NULL); /* marks it as recently used */
    else
        unlinkat(folder, name, 0);
    if (file >= 0)
        close(file);
    return good;
}

static void keep_refusal(struct jit_result *r, const struct code_cache_refusal *why)
{
    free(r->cache_error);
    r->cache_error = why->text[0] ? strdup(why->text) : NULL;
}

bool code_cache_load(const struct code_cache_key *key, struct jit_result *r)
{
    struct code_cache_refusal why;
    int folder = open_folder(&why);
    bool good = folder >= 0 && load_from(folder, key, r, &why);
    if (folder >= 0)
        close(folder);
    keep_refusal(r, &why);
    return good;
}

/* ---- all entries ---- */

struct entry {
    char name[NAME_MAX + 1];
    bool is_aside; /* being written, or left by a dead writer or an older Heddle */
    uint64_t bytes;
    struct timespec used;
};

struct entries {
    struct entry *at;
    size_t n, capacity;
};

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct entry *)a)->used, *y = &((const struct entry *)b)->used;
    return x->tv_sec != y->tv_sec ? (x->tv_sec < y->tv_sec ? -1 : 1)
                                  : (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Names begin with the digits of a key, followed by ".code". */
static bool is_of_cache(const char *name, bool *is_aside)
{
    size_t digits = strspn(name, "0123456789abcdef");
    *is_aside = digits != 2 * sizeof(struct code_cache_key) || strcmp(name + digits, suffix) != 0;
    return digits >= 32 && strncmp(name + digits, suffix, sizeof suffix - 1) == 0;
}

/* All files with names of entries, the least recently used first; the caller frees them. */
static struct entries list_entries(int folder)
{
    struct entries list = {0};
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = again >= 0 ? fdopendir(again) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat s;
        bool is_aside;
        if (!is_of_cache(e->d_name, &is_aside) || fstatat(folder, e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        struct entry *entry = VEC_ADD(&list);
        if (!entry)
            break;
        *entry = (struct entry){.is_aside = is_aside, .bytes = (uint64_t)s.st_size, .used = s.st_mtim};
        strcpy(entry->name, e->d_name);
    }
    if (d)
        closedir(d);
    else if (again >= 0)
        close(again);
    if (list.n)
        qsort(list.at, list.n, sizeof *list.at, by_use);
    return list;
}

void code_cache_survey(size_t *entries, uint64_t *bytes, bool clear, struct code_cache_refusal *why)
{
    struct entries list = {0};
    int folder = open_folder(why);
    if (folder >= 0)
        list = list_entries(folder);
    *entries = 0;
    *bytes = 0;
    for (size_t i = 0; i < list.n; i++) {
        *entries += !list.at[i].is_aside;
        *bytes += list.at[i].bytes;
        if (clear && unlinkat(folder, list.at[i].name, 0) != 0)
            refuse(why, "%s cannot be removed: %s", list.at[i].name, strerror(errno));
    }
    free(list.at);
    if (folder >= 0)
        close(folder);
}

/* Removes files that will not be read, and, if the cache is too large, the least recently used ones
 * until a quarter is free. */
static void make_room(int folder)
{
    struct entries list = list_entries(folder);
    uint64_t bytes = 0, limit = CODE_CACHE_LIMIT_BYTES;
    time_t now = time(NULL);
    for (size_t i = 0; i < list.n; i++)
        bytes += list.at[i].bytes;
    if (bytes > limit)
        limit = limit / 4 * 3;
    for (size_t i = 0; i < list.n; i++) {
        bool is_left = list.at[i].is_aside && now - list.at[i].used.tv_sec > ASIDE_SECONDS;
        if (!is_left && bytes <= limit)
            continue;
        unlinkat(folder, list.at[i].name, 0);
        bytes -= list.at[i].bytes;
    }
    free(list.at);
}

/* ---- writing ---- */

static void make_folder(void)
{
    char path[PATH_MAX];
    if (!code_cache_folder(path, sizeof path))
        return;
    for (char *p = path + 1; *p; p++)
        if (*p == '/') {
            *p = 0;
            mkdir(path, 0700);
            *p = '/';
        }
    mkdir(path, 0700);
}

static bool write_all(int file, const void *from, size_t bytes)
{
    for (const uint8_t *at = from; bytes;) {
        ssize_t n = write(file, at, bytes);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void store_in(int folder, const struct code_cache_key *key, const struct jit_result *r,
                     struct code_cache_refusal *why)
{
    char name[NAME_BYTES], aside[NAME_BYTES + 48];
    struct header h = {.bytes = r->bytes, .n_inline_caches = r->n_inline_caches, .key = *key};
    memcpy(h.magic, magic, sizeof magic);
    sum_of(&h, r->object, h.sum);
    entry_name(key, name);
    snprintf(aside, sizeof aside, "%s.%d.%p", name, (int)getpid(), (const void *)r);
    int file = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) {
        /* A failure to store is harmless. */
        refuse(why, "%s cannot be written: %s", aside, strerror(errno));
        return;
    }
    bool good = write_all(file, &h, sizeof h) && write_all(file, r->object, r->bytes);
    good = close(file) == 0 && good;
    if (!good || renameat(folder, aside, folder, name) != 0) {
        refuse(why, "%s cannot be written: %s", name, strerror(errno));
        unlinkat(folder, aside, 0);
    }
    make_room(folder);
}

void code_cache_store(const struct code_cache_key *key, struct jit_result *r)
{
    struct code_cache_refusal why;
    make_folder();
    int folder = open_folder(&why);
    if (folder >= 0) {
        store_in(folder, key, r, &why);
        close(folder);
    }
    keep_refusal(r, &why);
}
