/* Notes of tasks: what a task is, kept once for all that are equal; see timelines.h. */
#include "check/order/timelines_state.h"

#include <string.h>

/* The note that equal tasks share. */
static const struct task_note *find_note(struct timelines *s, const struct task_note *note)
{
    struct task_note key, *known;
    memset(&key, 0, sizeof key); /* the bytes are compared */
    key.kind = note->kind;
    key.stream = note->stream;
    key.where = note->where;
    if (note->name && !(key.name = map_get(&s->names, str_of(note->name)))) {
        char *name = arena_strdup(&s->arena, note->name);
        map_put(&s->names, str_of(name), name);
        key.name = name;
    }
    known = map_get(&s->notes, (struct str){(const char *)&key, sizeof key});
    if (known)
        return known;
    known = memcpy(arena_alloc(&s->arena, sizeof *known), &key, sizeof key);
    map_put(&s->notes, (struct str){(const char *)known, sizeof *known}, known);
    return known;
}

const struct task_note *timelines_keep_note(struct timelines *s, const struct task_note *note)
{
    jmp_buf oom;
    const struct task_note *volatile kept = NULL;
    s->arena.on_oom = &oom;
    if (setjmp(oom) == 0)
        kept = find_note(s, note);
    s->arena.on_oom = NULL;
    return kept;
}
