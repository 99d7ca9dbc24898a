/* See file_name.h. */
#include "base/file_name.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"

static struct {
    pthread_once_t once;
    char path[PATH_MAX];
} root = {.once = PTHREAD_ONCE_INIT, .path = "."};

static bool has_git(const char *folder, size_t n)
{
    char path[PATH_MAX + 8];
    return snprintf(path, sizeof path, "%.*s/.git", (int)n, folder) < (int)sizeof path && access(path, F_OK) == 0;
}

static void find_root(void)
{
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here))
        return;
    size_t n = strlen(here);
    strcpy(root.path, here);
    while (n > 1 && !has_git(here, n))
        while (n > 1 && here[--n] != '/')
            ;
    if (n > 1)
        root.path[n] = 0;
}

const char *source_root(void)
{
    pthread_once(&root.once, find_root);
    return root.path;
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

const char *source_below(const char *from, const char *file, struct arena *arena)
{
    const char *folder = absolute(from ? from : ".", arena), *path = absolute(file, arena), *name = tail(folder, path);
    char real[PATH_MAX];
    /* By a link; not inside of the sandbox. */
    if (!name && from && realpath(path, real) && tail(folder, real))
        name = arena_strdup(arena, tail(folder, real));
    return name;
}

const char *source_name(const char *from, const char *file, struct arena *arena)
{
    const char *name = source_below(from, file, arena);
    return name ? name : file;
}

/* From the current folder up to one that the path is below, and down. */
static const char *way_to(const char *path, struct arena *arena)
{
    const char *here = absolute(".", arena);
    size_t common = 0;
    for (size_t i = 0; path[i] && path[i] == here[i]; i++)
        common = path[i] == '/' ? i + 1 : common;
    const char *way = arena_printf(arena, "../%s", path + common);
    for (const char *up = here + common; *up; up++)
        way = *up == '/' ? arena_printf(arena, "../%s", way) : way;
    return way;
}

const char *file_as_shown(const char *file, struct arena *arena)
{
    const char *shown = file;
    if (file[0] == '/' || file[0] == '.') {
        const char *name = source_below(source_root(), file, arena);
        const char *path = name ? arena_printf(arena, "%s/%s", source_root(), name) : absolute(file, arena);
        shown = source_below(NULL, path, arena);
        shown = shown ? shown : name ? way_to(path, arena) : path;
    }
    return printable_excerpt(arena, str_of(shown), false);
}
