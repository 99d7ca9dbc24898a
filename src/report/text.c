/* Diagnostics as text, in the manner of gcc and clang; see report.h. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "report/report.h"
#include "sandbox/broker.h"

/* Tabs stay tabs, so that the caret stands where the editor shows it. */
static void put_caret(struct text *o, struct place_line at, uint32_t length)
{
    text_puts(o, "      | ");
    for (uint32_t i = 0; i + 1 < at.column && i < at.text.n; i++)
        text_put(o, at.text.p[i] == '\t' ? "\t" : " ", 1);
    text_puts(o, "^");
    for (uint32_t i = 1; i < length && at.column - 1 + i < at.text.n; i++)
        text_puts(o, "~");
    text_puts(o, "\n");
}

static void put_help(struct text *o, const char *help)
{
    text_puts(o, "  help: ");
    text_puts(o, help);
    text_puts(o, "\n");
}

/* ---- the line of CUDA, where its file is at hand ---- */

static FILE *open_text(const char *path)
{
    int fd = sandbox_open(path, SANDBOX_REGULAR_FILES);
    FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!f && fd >= 0)
        close(fd);
    return f;
}

/* The file as the compiler was told it, from here or from where the PTX is. */
static FILE *open_cuda(struct text *o, const struct place *p)
{
    FILE *f = open_text(p->cuda->file);
    const char *slash = p->source ? strrchr(p->source->name, '/') : NULL;
    if (f || !slash || p->cuda->file[0] == '/')
        return f;
    return open_text(arena_printf(o->arena, "%.*s/%s", (int)(slash - p->source->name), p->source->name, p->cuda->file));
}

static void put_cuda_line(struct text *o, const struct place *p)
{
    FILE *f = open_cuda(o, p);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t n = -1;
    if (!f)
        return;
    for (uint32_t i = 0; i < p->cuda->line; i++)
        if ((n = getline(&line, &capacity, f)) < 0)
            break;
    if (n > 0)
        text_printf(o, "%5u | %.*s\n", p->cuda->line, (int)strcspn(line, "\r\n"), line);
    free(line);
    fclose(f);
}

/* A file below the current folder by its name from there, as compilers name it. */
static const char *short_name(const char *file)
{
    char here[4096];
    size_t n = file[0] == '/' && getcwd(here, sizeof here) ? strlen(here) : 0;
    return n > 1 && strncmp(file, here, n) == 0 && file[n] == '/' ? file + n + 1 : file;
}

static void put_diag(struct text *o, const struct diag *d)
{
    struct place_line at = place_locate(d->place);
    const struct cuda_place *cuda = d->place.cuda;
    const char *ptx =
        d->place.source ? arena_printf(o->arena, "%s:%u:%u", d->place.source->name, at.line, at.column) : NULL;
    const char *times = d->count > 1 ? arena_printf(o->arena, ", %llu times", (unsigned long long)d->count) : "";
    if (cuda)
        text_printf(o, "%s:%u: ", short_name(cuda->file), cuda->line);
    else if (ptx)
        text_printf(o, "%s: ", ptx);
    text_printf(o, "%s: %s [%s%s]\n", report_severity(d), d->text, d->code, times);
    if (cuda)
        put_cuda_line(o, &d->place);
    if (cuda && cuda->inlined_file)
        text_printf(o, "  inlined from %s:%u\n", short_name(cuda->inlined_file), cuda->inlined_line);
    if (cuda && ptx)
        text_printf(o, "  in %s:\n", ptx);
    if (ptx && at.text.n) {
        text_printf(o, "%5u | %.*s\n", at.line, STR_ARG(at.text));
        put_caret(o, at, d->place.length);
    }
    if (d->help)
        put_help(o, d->help);
}

const char *report_severity(const struct diag *d)
{
    static const char *const severities[] = {"error", "warning", "note"};
    return severities[d->severity];
}

struct str report_text(const struct diags *d, struct arena *arena)
{
    struct text o = {.arena = arena};
    text_put(&o, "", 0);
    for (uint32_t i = 0; i < d->list.n; i++)
        put_diag(&o, &d->list.at[i]);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->list.n; i++)
        kept += d->list.at[i].severity == DIAG_ERROR;
    if (d->errors > kept)
        text_printf(&o, "and %u more errors\n", d->errors - kept);
    return (struct str){o.p, o.n};
}
