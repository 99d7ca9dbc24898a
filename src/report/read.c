/* Diagnostics back from JSON; see report.h. Of a place's PTX there is the one line. */
#include <jansson.h>

#include "base/text.h"
#include "report/report.h"

static const char *text_of(const json_t *o, const char *key, struct arena *arena)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? arena_strdup(arena, text) : NULL;
}

static uint32_t number_of(const json_t *o, const char *key)
{
    return (uint32_t)json_integer_value(json_object_get(o, key));
}

static const struct cuda_place *read_cuda(const json_t *o, struct arena *arena)
{
    const char *file = text_of(o, "cuda_file", arena);
    const json_t *chain = json_object_get(o, "chain");
    size_t n = json_array_size(chain);
    if (!file)
        return NULL;
    struct cuda_place *p = ARENA_NEW(arena, struct cuda_place);
    struct cuda_line *lines = n ? ARENA_ARRAY(arena, struct cuda_line, n) : NULL;
    *p = (struct cuda_place){.file = file, .line = number_of(o, "cuda_line"), .chain = lines, .n_chain = (uint32_t)n};
    for (size_t i = n; i-- > 0;) {
        const json_t *at = json_array_get(chain, i);
        const char *name = text_of(at, "file", arena);
        lines[i] = (struct cuda_line){name ? name : "?", number_of(at, "line")};
        if (lines[i].line == p->line && strcmp(lines[i].file, file) == 0)
            p->shown = (uint32_t)i;
    }
    return p;
}

static struct place read_place(const json_t *o, struct arena *arena)
{
    const json_t *source = json_object_get(o, "source");
    const char *file = text_of(o, "file", arena);
    struct place p = {.length = number_of(o, "length"), .cuda = read_cuda(o, arena)};
    uint32_t line = number_of(o, "line"), column = number_of(o, "column");
    if (!file || !line || !column)
        return p;
    /* Where the line did not come with it, as many blanks as make its column. */
    struct str text = {json_string_value(source), json_string_length(source)};
    struct text blank = {.arena = arena};
    text_printf(&blank, "%*s", (int)(column - 1 + p.length), "");
    struct source *s = source_new(arena, file, source ? text : (struct str){blank.p, blank.n});
    s->lines_before = line - 1;
    p.source = s;
    p.offset = column - 1;
    return p;
}

static const struct diag_origin *read_origin(const json_t *o, struct arena *arena)
{
    const char *program = text_of(o, "program", arena);
    if (!program)
        return NULL;
    struct diag_origin *origin = ARENA_NEW(arena, struct diag_origin);
    *origin = (struct diag_origin){
        .program = program, .pid = (int)number_of(o, "process"), .repeat = text_of(o, "repeat", arena)};
    return origin;
}

static const hd_frame *read_frames(const json_t *list, uint32_t *n, struct arena *arena)
{
    *n = (uint32_t)json_array_size(list);
    hd_frame *frames = *n ? ARENA_ARRAY(arena, hd_frame, *n) : NULL;
    for (size_t i = 0; i < *n; i++) {
        const json_t *o = json_array_get(list, i);
        frames[i] = (hd_frame){.function = text_of(o, "function", arena),
                               .file = text_of(o, "file", arena),
                               .line = number_of(o, "line"),
                               .object = text_of(o, "object", arena),
                               .offset = (uint64_t)json_integer_value(json_object_get(o, "offset"))};
    }
    return frames;
}

static bool read_diag(const json_t *o, struct diags *to)
{
    struct arena *arena = to->arena;
    const char *severity = json_string_value(json_object_get(o, "severity"));
    struct diag d = {.code = text_of(o, "code", arena),
                     .place = read_place(o, arena),
                     .text = text_of(o, "text", arena),
                     .help = text_of(o, "help", arena),
                     .count = (uint64_t)json_integer_value(json_object_get(o, "count")),
                     .kernel = text_of(o, "kernel", arena),
                     .reason = text_of(o, "reason", arena),
                     .origin = read_origin(o, arena)};
    while (severity && d.severity <= DIAG_NOTE && strcmp(report_severity(&d), severity) != 0)
        d.severity++;
    if (!severity || d.severity > DIAG_NOTE || !d.code || !d.text)
        return false;
    d.frames = read_frames(json_object_get(o, "frames"), &d.n_frames, arena);
    d.launch = read_frames(json_object_get(o, "launch"), &d.n_launch, arena);
    *VEC_PUSH(arena, &to->list) = d;
    to->errors += d.severity == DIAG_ERROR;
    to->warnings += d.severity == DIAG_WARNING;
    return true;
}

bool report_read(const struct json_t *list, struct diags *d)
{
    bool ok = json_is_array(list);
    for (size_t i = 0; ok && i < json_array_size(list); i++)
        ok = read_diag(json_array_get(list, i), d);
    return ok;
}
