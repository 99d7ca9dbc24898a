/* See lines.h. */
#include "report/lines.h"

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
