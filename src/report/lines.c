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

void source_lines(const char *file, const struct place *p, uint32_t first, unsigned n, struct str lines[],
                  struct arena *arena)
{
    FILE *f = open_source(file, p, arena);
    char *line = NULL;
    size_t capacity = 0;
    for (unsigned i = 0; i < n; i++)
        lines[i] = (struct str){0};
    for (uint32_t i = 1; f && i < first + n && getline(&line, &capacity, f) > 0; i++)
        if (i >= first) {
            size_t length = strcspn(line, "\r\n");
            lines[i - first] = (struct str){arena_strndup(arena, line, length), length};
        }
    free(line);
    if (f)
        fclose(f);
}

struct str source_line(const char *file, const struct place *p, uint32_t number, struct arena *arena)
{
    struct str line = {0};
    if (number)
        source_lines(file, p, number, 1, &line, arena);
    return line;
}
