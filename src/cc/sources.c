/* The texts that clang reads of a source: the file itself and the user's headers, with what only
 * nvcc accepts put as clang wants it (rewrite.c, nested.c, dynamic.c); see compile.h.
 *
 * Headers are found by `#include "x"` and `#include <x>`, as compilers find them: in the folder of
 * the file, then in those of -iquote and -I. Lines that a condition leaves out count, too, as clang
 * never reads such a text. Folders of -isystem and the system's are left alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "cc/commands.h"
#include "cc/declarations.h"

struct finder {
    struct job *j;
    struct map paths; /* that were looked for: the place of what is known of one */
};
static char missing, found, added;

static bool add_source(struct job *j, const char *path, const struct stat *s)
{
    struct file_bytes file = {0};
    const char *error = file_read(j->arena, path, 0, &file);
    if (error)
        return cc_failure(j, "%s", error) == 0;
    struct str text = {arena_strndup(j->arena, file.bytes, file.n), file.n};
    free(file.bytes);
    *VEC_PUSH(j->arena, &j->sources) =
        (struct cc_source){.path = path, .user = text, .text = text, .device = s->st_dev, .inode = s->st_ino};
    return true;
}

/* Is it a file? */
static bool look_for(struct finder *f, const char *path)
{
    struct stat s;
    char *known = map_get(&f->paths, str_of(path));
    if (!known) {
        known = stat(path, &s) == 0 && S_ISREG(s.st_mode) ? &found : &missing;
        map_put(&f->paths, str_of(path), known);
    }
    return known != &missing;
}

static const char *find_in(struct finder *f, enum cc_id id, struct str name)
{
    const cc_words *folders = &f->j->o.list[id];
    for (uint32_t i = 0; i < folders->n; i++) {
        const char *path = arena_printf(f->j->arena, "%s/%.*s", folders->at[i], STR_ARG(name));
        if (look_for(f, path) && !cc_is_toolkit(f->j, folders->at[i]))
            return path;
    }
    return NULL;
}

static const char *find_header(struct finder *f, const char *from, struct str name, bool quotes)
{
    const char *slash = strrchr(from, '/'), *path;
    int folder = name.p[0] == '/' || !slash ? 0 : (int)(slash + 1 - from);
    if (quotes || name.p[0] == '/') {
        path = arena_printf(f->j->arena, "%.*s%.*s", folder, from, STR_ARG(name));
        if (look_for(f, path) || (path = find_in(f, CC_QUOTE_INCLUDE, name)))
            return path;
    }
    return find_in(f, CC_INCLUDE_PATH, name);
}

/* Adds the file, once by all its names. */
static bool add_once(struct finder *f, const char *path)
{
    struct stat s;
    if (map_put(&f->paths, str_of(path), &added) == &added || stat(path, &s) || access(path, R_OK))
        return true;
    for (uint32_t i = 0; i < f->j->sources.n; i++)
        if (f->j->sources.at[i].inode == s.st_ino && f->j->sources.at[i].device == s.st_dev)
            return true;
    return add_source(f->j, path, &s);
}

/* The name behind `#include`, whose `#` is at `hash`; its first character is the bracket. */
static struct str included_name(struct str text, size_t hash)
{
    size_t word = cc_skip_blanks(text, hash + 1);
    if (word >= text.n || !str_is(cc_word_at(text, word), "include"))
        return (struct str){0};
    size_t open = cc_skip_blanks(text, word + strlen("include"));
    char close = open >= text.n ? 0 : text.p[open] == '"' ? '"' : text.p[open] == '<' ? '>' : 0;
    size_t line = open < text.n ? strcspn(text.p + open, "\n") : 0;
    const char *end = close ? memchr(text.p + open + 1, close, line - 1) : NULL;
    return (struct str){text.p + open, end ? (size_t)(end - text.p) - open : 0};
}

static bool add_headers_of(struct finder *f, const char *from, struct str text)
{
    for (const char *hash = text.p; (hash = memchr(hash, '#', (size_t)(text.p + text.n - hash))); hash++) {
        struct str name = included_name(text, (size_t)(hash - text.p));
        if (name.n < 2)
            continue;
        const char *path = find_header(f, from, (struct str){name.p + 1, name.n - 1}, name.p[0] == '"');
        if (path && !add_once(f, path))
            return false;
    }
    return true;
}

/* Finds the source and its headers. */
static bool find_all(struct job *j, const char *input)
{
    struct finder f = {.j = j};
    struct stat s = {0};
    map_init(&f.paths, j->arena);
    j->sources.n = 0;
    stat(input, &s);
    if (!add_source(j, input, &s))
        return false;
    for (uint32_t i = 0; i < j->o.list[CC_PRE_INCLUDE].n; i++) {
        struct str name = str_of(j->o.list[CC_PRE_INCLUDE].at[i]);
        const char *path = find_header(&f, "", name, true);
        if (path && !add_once(&f, path))
            return false;
    }
    for (uint32_t i = 0; i < j->sources.n; i++)
        if (!add_headers_of(&f, j->sources.at[i].path, j->sources.at[i].user))
            return false;
    return true;
}

/* May there be anything that clang does not take? */
static bool is_of_device(struct str text)
{
    return str_has(text, "__global__") || str_has(text, "__device__") || str_has(text, "__shared__") ||
           str_has(text, "asm") || str_has(text, "<<");
}

static void rewrite(struct job *j, struct cc_source *s)
{
    struct str text = cc_rewrite(s->text, j->arena);
    s->text = text.p ? text : s->text;
    if (j->o.given[CC_DEVICE_DEBUG]) {
        text = cc_say_dynamic(s->text, j->arena);
        s->text = text.p ? text : s->text;
    }
}

static void rewrite_all(struct job *j)
{
    uint32_t n = j->sources.n;
    struct str *texts = ARENA_ARRAY(j->arena, struct str, n);
    for (uint32_t i = 0; i < n; i++) {
        if (is_of_device(j->sources.at[i].text))
            rewrite(j, &j->sources.at[i]);
        texts[i] = j->sources.at[i].text;
    }
    cc_rewrite_nested(texts, n, j->o.rdc, j->arena);
    for (uint32_t i = 0; i < n; i++)
        j->sources.at[i].text = texts[i];
}

/* Writes the texts that clang is to read instead of files. */
static bool write_all(struct job *j, const char *input)
{
    bool ok = true;
    for (uint32_t i = 0; i < j->sources.n && ok; i++) {
        struct cc_source *s = &j->sources.at[i];
        if (s->text.p == s->user.p || j->o.given[CC_DRY_RUN])
            continue;
        if (strchr(s->path, ';')) /* which parts the names of clang's -remap-file */
            return cc_failure(
                       j,
                       "%s: the path contains `;`, so that Heddle cannot rewrite what only nvcc accepts (`< <<`, "
                       "`__shared__ alignas`, `%%clock` in assembly): rename it",
                       s->path) == 0;
        s->instead = job_temporary(j, input, arena_printf(j->arena, ".%u.joined.cu", i));
        ok = job_write(j, s->instead, s->text.p, s->text.n);
    }
    return ok;
}

bool cc_rewrite_source(struct job *j, const char *input)
{
    if (!find_all(j, input))
        return false;
    const struct cc_source *s = &j->sources.at[0];
    const char *error = cc_check_operands(s->user, input, j->arena);
    if (error) {
        fprintf(stderr, "%s\n", error);
        return false;
    }
    rewrite_all(j);
    j->diagnostics.sources = j->sources.at;
    j->diagnostics.n_sources = j->sources.n;
    j->diagnostics.failed = false;
    /* nvcc takes such lambdas by an option only: a header may have them, and a macro may hide what
     * they are */
    j->laid_out_host = j->laid_out_device = NULL;
    j->captures = (struct cc_captures){0};
    j->may_have_closures = !j->o.given[CC_DRY_RUN] && !cc_stops_at_text(&j->o) &&
                           (j->o.given[CC_EXTENDED_LAMBDA] || cc_has_closures(s->user, j->arena));
    return write_all(j, input);
}
