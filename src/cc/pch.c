/* Precompiled headers. Most of the time for a short .cu file goes to headers: clang reads
 * cuda_runtime.h, 40 files of Heddle and 120 of the C++ library and of clang, for the host and for
 * each device. From the second compilation with the same options on, it reads a precompiled form
 * of them (a PCH file), which takes a tenth of the time.
 *
 * A header is KEY.pch. KEY.files lists all files that it was made of, with their sizes and times;
 * if one of them differs now, the header is made again. KEY is a hash of the options and the
 * compiler. KEY.seen alone says that the options have been used once: for a single compilation, a
 * PCH is not worth its time. Files are written under another name and renamed. One process makes a
 * header, while others do without.
 *
 * The folder is `headers` in that of compiled code (heddle cache), or HEDDLE_HEADERS;
 * HEDDLE_HEADERS=off stores none.
 */
#include <blake2.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cc/job.h"
#include "files/file.h"

enum { KEY_BYTES = 20 };
#define MOST_BYTES (256ull << 20)

/* ---- the folder ---- */

/* NULL: no headers are kept. */
static const char *folder_of(struct arena *arena)
{
    const char *own = getenv("HEDDLE_HEADERS");
    hd_cache_info info;
    if (own && strcmp(own, "off") == 0)
        return NULL;
    if (!own || !*own) {
        if (!hd_cache_get_info(&info) || info.refused[0])
            return NULL;
        mkdir(info.folder, 0700);
        own = arena_printf(arena, "%s/headers", info.folder);
    }
    struct stat s;
    mkdir(own, 0700);
    bool is_own =
        stat(own, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() && !(s.st_mode & (S_IWGRP | S_IWOTH));
    return is_own ? own : NULL;
}

/* Has a file a name that begins with a key? No other one is counted, or removed. */
static bool is_kept(const char *name)
{
    return strspn(name, "0123456789abcdef") == 2 * KEY_BYTES && name[2 * KEY_BYTES] == '.';
}

/* What of a folder's files is there, and which was used longest ago; of what `keep` begins the
 * latter says nothing. */
struct contents {
    uint64_t bytes;
    uint32_t headers;
    const char *oldest;
};

static struct contents survey(struct arena *arena, const char *folder, const char *keep)
{
    struct contents c = {0};
    struct timespec least = {0};
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat s;
        if (!is_kept(e->d_name) || fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        c.bytes += (uint64_t)s.st_size;
        c.headers += strcmp(file_extension(e->d_name), ".pch") == 0;
        bool older =
            s.st_mtim.tv_sec < least.tv_sec || (s.st_mtim.tv_sec == least.tv_sec && s.st_mtim.tv_nsec < least.tv_nsec);
        if (!(keep && strncmp(e->d_name, keep, strlen(keep)) == 0) && (!c.oldest || older)) {
            least = s.st_mtim;
            c.oldest = arena_strdup(arena, e->d_name);
        }
    }
    if (d)
        closedir(d);
    return c;
}

/* Removes what was used longest ago, until no more than so many bytes are left. */
static bool make_room(struct arena *arena, const char *folder, const char *keep, uint64_t most)
{
    struct contents c;
    while ((c = survey(arena, folder, keep)).oldest && c.bytes >= most)
        if (unlink(arena_printf(arena, "%s/%s", folder, c.oldest)) != 0)
            return false;
    return true;
}

bool cc_show_headers(struct arena *arena, bool clear)
{
    const char *folder = folder_of(arena);
    struct contents c = folder ? survey(arena, folder, NULL) : (struct contents){0};
    if (c.headers)
        printf("%s: %s precompiled header%s, %s of %s%s\n", folder, count_text(c.headers, arena),
               c.headers == 1 ? "" : "s", size_text(c.bytes, arena), size_text(MOST_BYTES, arena),
               clear ? ": removed" : "");
    return !clear || !folder || make_room(arena, folder, NULL, 0);
}

/* ---- what a header depends on ---- */

/* A file as it is now, in a line's words; NULL where there is none, or where it has changed since,
 * or about then: nobody knows whether clang has read it before that or behind it. */
static const char *state_of(struct arena *arena, const char *path, time_t since)
{
    struct stat s;
    if (!path || stat(path, &s) != 0 || s.st_mtim.tv_sec >= since)
        return NULL;
    return arena_printf(arena, "%" PRIu64 " %" PRId64 ".%09ld %s", (uint64_t)s.st_size, (int64_t)s.st_mtim.tv_sec,
                        s.st_mtim.tv_nsec, path);
}
enum { SETTLED_SECONDS = 1 };
static const time_t any_time = INT64_MAX;

static void hash_text(blake2b_state *h, const char *text)
{
    blake2b_update(h, (const uint8_t *)text, strlen(text) + 1);
}

static const char *key_of(struct job *j, const cc_words *options)
{
    blake2b_state h;
    uint8_t sum[KEY_BYTES];
    const char *key = "";
    blake2b_init(&h, sizeof sum);
    const char *compiler = state_of(j->arena, file_find_program(options->at[0], j->arena), any_time);
    hash_text(&h, compiler ? compiler : "");
    for (uint32_t i = 0; i < options->n; i++)
        hash_text(&h, options->at[i]);
    blake2b_final(&h, sum, sizeof sum);
    for (int i = 0; i < KEY_BYTES; i++)
        key = arena_printf(j->arena, "%s%02x", key, sum[i]);
    return key;
}

/* Is the header as long as it was, and are all files of the list behind that as they were? */
static bool is_current(struct job *j, const char *list, const char *pch)
{
    struct file_bytes file = {0};
    struct stat s;
    if (stat(pch, &s) != 0 || file_read(j->arena, list, 0, &file))
        return false;
    bool current =
        file.n > 0 && file.bytes[file.n - 1] == '\n' && strtoull(file.bytes, NULL, 10) == (uint64_t)s.st_size;
    char *at = current ? memchr(file.bytes, '\n', file.n) + 1 : NULL;
    for (char *end = file.bytes + file.n; current && at < end;) {
        char *line_end = memchr(at, '\n', (size_t)(end - at)), *path = memchr(at, '/', (size_t)(line_end - at));
        *line_end = 0;
        const char *now = path ? state_of(j->arena, path, any_time) : NULL;
        current = now && strcmp(now, at) == 0;
        at = line_end + 1;
    }
    free(file.bytes);
    return current;
}

/* The list of a rule for make, "x: a b \ c", in which a backslash stands
 * before a space of a name. */
static const char *list_of_rule(struct job *j, struct file_bytes *rule, time_t began)
{
    char *at = memchr(rule->bytes, ':', rule->n), *end = rule->bytes + rule->n;
    const char *list = "";
    while (at && ++at < end) {
        char name[PATH_MAX];
        size_t n = 0;
        for (; at < end && !strchr(" \n", *at); at++) {
            at += *at == '\\' && at + 1 < end && at[1] != '\n';
            if (*at != '\\' && n + 1 < sizeof name)
                name[n++] = *at;
        }
        name[n] = 0;
        if (!n || strcmp(name, "/dev/null") == 0)
            continue;
        const char *state = name[0] == '/' ? state_of(j->arena, name, began - SETTLED_SECONDS) : NULL;
        if (!state)
            return NULL;
        list = arena_printf(j->arena, "%s%s\n", list, state);
    }
    return list;
}

/* ---- making one ---- */

/* Under a lock that no other process has. */
static bool make(struct job *j, const cc_words *options, const char *base)
{
    struct process p;
    struct file_bytes rule = {0};
    const char *aside = arena_printf(j->arena, "%s.%d", base, (int)getpid()), *errors, *list = NULL;
    const char *pch = arena_printf(j->arena, "%s.pch", aside), *made = arena_printf(j->arena, "%s.d", aside);
    const char *files = arena_printf(j->arena, "%s.files", base), *final = arena_printf(j->arena, "%s.pch", base);
    cc_words c = {0};
    time_t began = time(NULL);
    job_add_all(j, &c, options);
    const char *const rest[] = {"-include", CC_HEADER, "-fsyntax-only", "-Xclang", "-emit-pch",
                                "-Xclang",  "-o",      "-Xclang",       pch,       "-MD",
                                "-MF",      made,      "-MT",           "x",       "/dev/null"};
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
        ADD(&c, rest[i]);
    bool ok = process_start(&p, job_arguments(j, &c), 0) == 0 && process_finish(&p, j->arena, NULL, &errors) == 0 &&
              !file_read(j->arena, made, 0, &rule);
    if (ok)
        list = list_of_rule(j, &rule, began);
    unlink(files); /* what it says is of the header before */
    ok = list && rename(pch, final) == 0;
    struct stat s;
    if (ok && stat(final, &s) == 0) {
        const char *text = arena_printf(j->arena, "%" PRIu64 "\n%s", (uint64_t)s.st_size, list);
        ok = !file_write_whole(j->arena, files, text, strlen(text));
    }
    free(rule.bytes);
    unlink(pch);
    unlink(made);
    return ok;
}

static bool make_once(struct job *j, const cc_words *options, const char *base)
{
    const char *seen = arena_printf(j->arena, "%s.seen", base);
    bool is_first = access(seen, F_OK) != 0, made = false;
    int lock = open(seen, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock >= 0 && !is_first && flock(lock, LOCK_EX | LOCK_NB) == 0)
        made = make(j, options, base);
    if (lock >= 0)
        close(lock);
    return made;
}

/* Other than by options: what else includes, or wants to see the whole command. */
static bool is_wanted(const struct cc_options *o)
{
    static const char *const paths[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"};
    static const enum cc_id without[] = {CC_DEPENDENCIES, CC_DEPENDENCIES_OWN, CC_PREPROCESS,
                                         CC_DRY_RUN,      CC_VERBOSE,          CC_KEEP};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (getenv(paths[i]))
            return false;
    /* Of C++20, clang takes a header for a module, in which it sees no difference between overloads
     * for the host and for the device. */
    const char *std = o->given[CC_STD] ? o->value[CC_STD] : "c++17";
    if (!strstr(std, "+17") && !strstr(std, "+14") && !strstr(std, "+11"))
        return false;
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
        if (o->given[without[i]])
            return false;
    return true;
}

const char *cc_precompiled_header(struct job *j, const cc_words *options)
{
    if (!is_wanted(&j->o))
        return NULL;
    if (!j->headers_kept) {
        const char *found = folder_of(j->arena);
        j->headers_kept = found ? found : "";
    }
    if (!*j->headers_kept)
        return NULL;
    const char *key = key_of(j, options), *base = arena_printf(j->arena, "%s/%s", j->headers_kept, key);
    const char *files = arena_printf(j->arena, "%s.files", base), *pch = arena_printf(j->arena, "%s.pch", base);
    if (is_current(j, files, pch)) {
        utimensat(AT_FDCWD, pch, NULL, 0); /* it has been used */
        return pch;
    }
    if (!make_once(j, options, base))
        return NULL;
    make_room(j->arena, j->headers_kept, key, MOST_BYTES);
    return pch;
}
