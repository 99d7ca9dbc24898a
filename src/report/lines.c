/* See lines.h. */
#include "report/lines.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/broker.h"

/* The PTX names the file: it may name anything. What /proc has says that its size is 0, and may be
 * read for ever. */
static FILE *open_text(const char *path)
{
    enum { SOURCE_BYTES = 64 << 20 };
    struct stat st;
    int fd = sandbox_open(path, SANDBOX_REGULAR_FILES);
    bool source = fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size <= SOURCE_BYTES;
    FILE *f = source ? fdopen(fd, "r") : NULL;
    if (!f && fd >= 0)
        close(fd);
    return f;
}

static FILE *open_source(const char *file, const struct place *p, struct arena *arena)
{
    FILE *f = open_text(file);
    const char *slash = p && p->source ? strrchr(p->source->name, '/') : NULL;
    if (f || !slash || file[0] == '/')
        return f;
    return open_text(arena_printf(arena, "%.*s/%s", (int)(slash - p->source->name), p->source->name, file));
}

struct str source_line(const char *file, const struct place *p, uint32_t number, struct arena *arena)
{
    FILE *f = open_source(file, p, arena);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t n = -1;
    struct str text = {0};
    if (!f)
        return text;
    for (uint32_t i = 0; i < number; i++)
        if ((n = getline(&line, &capacity, f)) < 0)
            break;
    if (n > 0) {
        text.n = strcspn(line, "\r\n");
        text.p = arena_strndup(arena, line, text.n);
    }
    free(line);
    fclose(f);
    return text;
}

/* ---- the root ---- */

const char *source_root(struct arena *arena)
{
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here))
        return ".";
    for (size_t n = strlen(here); n > 1; n--) {
        bool at_end = here[n] == 0 || here[n] == '/';
        if (at_end && access(arena_printf(arena, "%.*s/.git", (int)n, here), F_OK) == 0)
            return arena_strndup(arena, here, n);
    }
    return arena_strdup(arena, here);
}

/* An absolute path without "." and "..", by its text alone. */
static const char *absolute(const char *file, struct arena *arena)
{
    char here[PATH_MAX] = "";
    if (file[0] != '/' && !getcwd(here, sizeof here))
        return file;
    const char *from = arena_printf(arena, "%s/%s", here, file);
    char *path = arena_alloc(arena, strlen(from) + 2), *end = path;
    while (*from) {
        from += strspn(from, "/");
        size_t n = strcspn(from, "/");
        if (n == 2 && strncmp(from, "..", 2) == 0) {
            while (end > path && *--end != '/')
                ;
        } else if (n && !(n == 1 && *from == '.')) {
            *end++ = '/';
            memcpy(end, from, n);
            end += n;
        }
        from += n;
    }
    *end = 0;
    return path;
}

static const char *tail(const char *folder, const char *path)
{
    size_t n = strlen(folder);
    return n > 1 && strncmp(path, folder, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

const char *source_below(const char *root, const char *file, struct arena *arena)
{
    const char *folder = absolute(root ? root : ".", arena), *path = absolute(file, arena), *name = tail(folder, path);
    char real[PATH_MAX];
    if (!name && root && realpath(path, real) &&
        tail(folder, real)) /* by a link; not inside of the sandbox, where no root is named */
        name = arena_strdup(arena, tail(folder, real));
    return name;
}

const char *source_name(const char *root, const char *file, struct arena *arena)
{
    const char *name = source_below(root, file, arena);
    return name ? name : file;
}
