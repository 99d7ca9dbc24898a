/* The text of a race: which threads access which datum, why the two accesses are unordered, and
 * what would order them. */
#include "check/race/state.h"

#include <stdlib.h>

#include "base/demangle.h"
#include "check/report/remedy.h"
#include "check/report/findings.h"
#include "exec/fault.h"
#include "check/checker.h"

/* A task that is no launch, with its articles. */
struct task_words {
    const char *a, *the;
};

static struct task_words task_words(const struct task_note *note)
{
    static const struct task_words words[] = {[TASK_COPY] = {"a copy", "the copy"},
                                              [TASK_FILL] = {"a fill", "the fill"},
                                              [TASK_CALL] = {"a host function", "the work"},
                                              [TASK_GATE] = {"a wait for a value", "the work"},
                                              [TASK_ALLOC] = {"an allocation", "the allocation"},
                                              [TASK_FREE] = {"a free", "the free"},
                                              [TASK_HOST] = {"the host", "the host"}};
    if (note->kind == TASK_WORK)
        return (struct task_words){note->name, note->name};
    bool known = note->kind < sizeof words / sizeof *words && words[note->kind].a;
    return known ? words[note->kind] : (struct task_words){"a task", "the work"};
}

/* "the host", "a copy in stream 3", "thread (1,0,0) of block (0,0,0)". The kernel is named where
 * the two are of different ones. */
static const char *who(const struct race_side *s, const char *kernel, struct arena *arena)
{
    const struct task_note *note = s->kind->note;
    const char *of = kernel ? arena_printf(arena, " of kernel `%s`", kernel) : "";
    if (s->kind->site)
        return arena_printf(arena, "%s%s", thread_words(arena, s->incarnation.block, s->incarnation.ctaid, s->thread),
                            of);
    const char *word = task_words(note).a;
    return note->kind != TASK_HOST && note->stream
               ? arena_printf(arena, "%s in stream %llu", word, (unsigned long long)note->stream)
               : word;
}

static const char *scope_word(enum scope scope)
{
    static const char *const words[SCOPE_COUNT] = {".cta", ".cluster", ".gpu", ".sys"};
    return words[scope];
}

static bool is_kind(const struct access_kind *c, enum task_kind kind)
{
    return !c->site && c->note->kind == kind;
}

/* "reads", "updates by an atomic operation of scope .cta" */
static const char *access_words(const struct access_kind *c, struct arena *arena)
{
    if (c->atomic)
        return arena_printf(arena, "updates (atomically, scope %s)", scope_word(c->scope));
    const char *verb = is_kind(c, TASK_ALLOC)  ? "allocates"
                       : is_kind(c, TASK_FREE) ? "frees"
                       : c->writes             ? "writes"
                                               : "reads";
    return c->strong && c->site ? arena_printf(arena, "%s (strongly, scope %s)", verb, scope_word(c->scope)) : verb;
}

static const char *noun(const struct access_kind *c)
{
    return c->atomic ? "atomic update" : c->writes ? "write" : "read";
}

/* ---- the datum ---- */

static const char *element(const char *name, uint64_t at, uint64_t size, const struct access_kind *c,
                           struct arena *arena)
{
    uint64_t width = c->bytes;
    if (size > width && size % width == 0)
        return arena_printf(arena, "%s[%llu] (bytes %llu-%llu)", name, (unsigned long long)(at / width),
                            (unsigned long long)at, (unsigned long long)(at + width - 1));
    return arena_printf(arena, at || size > width ? "bytes %2$llu-%3$llu of %1$s" : "%1$s", name,
                        (unsigned long long)at, (unsigned long long)(at + width - 1));
}

static const char *shared_words(const struct site_table *k, uint64_t at, const struct access_kind *c,
                                struct arena *arena)
{
    const struct site_variable *v = sites_shared_at(k, at);
    if (v)
        return arena_printf(
            arena, "shared variable %s",
            element(arena_printf(arena, "`%s`", demangle(v->name, arena)), at - v->at, v->bytes, c, arena));
    uint64_t dynamic = at - ((k->static_shared_bytes + 15) & ~15u);
    return arena_printf(arena, "bytes %llu-%llu of dynamic shared memory", (unsigned long long)dynamic,
                        (unsigned long long)(dynamic + c->bytes - 1));
}

static const char *global_words(struct races *r, uint64_t at, const struct access_kind *c, struct arena *arena)
{
    struct mem_block b;
    const struct checker *by = r->checkers;
    while (by && !checker_find(by, at, &b))
        by = by->race.next;
    if (!by)
        return arena_printf(arena, "%u bytes at 0x%llx", c->bytes, (unsigned long long)at);
    const char *name = b.name ? arena_printf(arena, "`%s`", demangle(str_of(b.name), arena))
                              : arena_printf(arena, "a buffer of %llu bytes%s", (unsigned long long)b.size,
                                             checker_buffer(by, &b, arena));
    return element(name, at - b.start, b.name ? b.size : 0, c, arena);
}

/* ---- why nothing orders them, and what would ---- */

static const char *work_words(const struct access_kind *k)
{
    return k->site ? "the launch" : task_words(k->note).the;
}

static const char *why(enum race_reason reason, const struct race_side *a, const struct race_side *b,
                       struct arena *arena)
{
    switch (reason) {
    case RACE_ONE_INSTRUCTION:
        return "one instruction writes the location in several threads of a warp, in no defined order";
    case RACE_WARP: return "no __syncwarp() orders the two, and threads of a warp do not run in lockstep";
    case RACE_BLOCK: return "no barrier orders the two accesses";
    case RACE_BLOCKS: return "nothing orders these two blocks of the launch";
    case RACE_LAUNCHES: return "nothing orders the two launches";
    case RACE_OVERLAP:
        return "the second launch may begin before the first has ended (programmatic stream serialization), and its "
               "thread has not waited for the first";
    case RACE_HOST: return arena_printf(arena, "nothing orders %s and %s", work_words(a->kind), work_words(b->kind));
    case RACE_SCOPE: {
        const struct race_side *narrow = a->kind->scope < b->kind->scope ? a : b;
        return arena_printf(arena, "scope %s of the %s does not reach the other thread",
                            scope_word(narrow->kind->scope), noun(narrow->kind));
    }
    case RACE_MIXED: {
        const struct race_side *weak = a->kind->strong ? b : a;
        return arena_printf(arena, "the %s is a plain access, and nothing orders the two", noun(weak->kind));
    }
    case RACE_PARTLY:
        return arena_printf(
            arena, "both accesses are strong, but their sizes differ (%u and %u bytes), so they overlap only in part",
            a->kind->bytes, b->kind->bytes);
    case RACE_END: break;
    }
    return "nothing orders the two";
}

/* Are the two one line to the reader? */
static bool is_one_line(const struct race *f)
{
    return f->side[0].kind->place == f->side[1].kind->place ||
           (f->place[0].cuda && cuda_place_equal(f->place[0].cuda, f->place[1].cuda));
}

static const char *remedy(const struct race *f, const char *lines, struct arena *arena)
{
    const struct race_side *a = &f->side[0], *b = &f->side[1];
    bool same_block = memcmp(a->incarnation.ctaid, b->incarnation.ctaid, sizeof a->incarnation.ctaid) == 0;
    switch (f->reason) {
    case RACE_ONE_INSTRUCTION: return "let one thread write, or use an atomic operation";
    case RACE_WARP: return arena_printf(arena, "add __syncwarp() %s, or use an atomic operation", lines);
    case RACE_BLOCK:
        if (is_one_line(f) && a->kind->writes &&
            b->kind->writes) /* a barrier does not help if each thread executes this once */
            return arena_printf(arena, "let one thread write, use an atomic operation, or add __syncthreads() %s",
                                lines);
        return arena_printf(arena, "add __syncthreads() %s", lines);
    case RACE_BLOCKS:
        return "give each block its own data, use atomic operations, hand the data over with a release and an acquire "
               "(__threadfence() and a flag that is read and written atomically), or launch a second kernel";
    case RACE_LAUNCHES:
        return "put both into one stream, or let the second wait for an event that is recorded after the first";
    case RACE_OVERLAP:
        return "let the second kernel call cudaGridDependencySynchronize() (griddepcontrol.wait) before the access, in "
               "this thread or before a barrier that this thread passes";
    case RACE_HOST:
        if (is_kind(a->kind, TASK_ALLOC) || is_kind(b->kind, TASK_ALLOC))
            return "use the memory in the stream that allocates it, or let the other stream wait for an event that is "
                   "recorded after the allocation";
        if (is_kind(a->kind, TASK_FREE) || is_kind(b->kind, TASK_FREE))
            return "free the memory in the stream that uses it last, or let the stream that frees it wait for an event "
                   "that is recorded after the use";
        if (!is_kind(a->kind, TASK_HOST) && !is_kind(b->kind, TASK_HOST))
            return "put both into one stream, or let the second wait for an event that is recorded after the first "
                   "(cudaMemcpy() from pageable memory may return before the data is there, and streams made with "
                   "cudaStreamNonBlocking do not wait for it)";
        return "synchronise before the host's access: cudaDeviceSynchronize(), cudaStreamSynchronize(), an event";
    case RACE_SCOPE: return "use the operation without _block, or cuda::thread_scope_device";
    case RACE_MIXED:
        return same_block ? arena_printf(arena, "add __syncthreads() %s, or make both atomic", lines)
                          : "make both atomic (atomicAdd, cuda::atomic_ref, at least volatile), or order them: "
                            "__threadfence() "
                            "before the atomic write of a flag, and after the read of it";
    case RACE_PARTLY: return "use the same size for both accesses";
    case RACE_END: break;
    }
    return NULL;
}

/* "between lines 12 and 14" */
static const char *between(const struct race *f, struct arena *arena)
{
    const struct cuda_place *x = f->place[0].cuda, *y = f->place[1].cuda;
    if (x && y && strcmp(x->file, y->file) == 0 && x->line != y->line)
        return arena_printf(arena, "between lines %u and %u", x->line < y->line ? x->line : y->line,
                            x->line < y->line ? y->line : x->line);
    if (x && y && x->line == y->line)
        return arena_printf(arena, "so that every thread passes it between two executions of line %u", x->line);
    return "between the two";
}

static const char *symbol_of(const struct races *r, const struct race_side *s)
{
    return timelines_note(r->timelines, s->incarnation.task)->name;
}

static const char *kernel_name(const struct races *r, const struct race_side *s, struct arena *arena)
{
    const struct task_note *note = timelines_note(r->timelines, s->incarnation.task);
    return s->kind->site && note->name ? demangle(str_of(note->name), arena) : NULL;
}

/* "writes it at main.cu:12" */
static const char *other_words(const struct race *f, struct arena *a)
{
    const struct access_kind *y = f->side[1].kind;
    if (is_one_line(f))
        return arena_printf(a, "%s it here, too", access_words(y, a));
    if (!y->site)
        return arena_printf(a, "%s it", access_words(y, a));
    return arena_printf(a, "%s it at %s", access_words(y, a), site_line(y->site, a));
}

static const char *datum_words(struct races *r, const struct race_datum *d, const struct access_kind *c)
{
    struct arena *a = &r->arena;
    uint64_t address = d->address & ~(uint64_t)(c->bytes - 1);
    if (!d->owner)
        return global_words(r, address, c, a);
    const uint32_t *ctaid = d->owner->ctaid;
    const char *words = shared_words(d->kernel, address, c, a);
    return d->is_clustered ? arena_printf(a, "%s of block (%u,%u,%u)", words, ctaid[0], ctaid[1], ctaid[2]) : words;
}

void race_describe(struct races *r, struct race *f, const struct race_datum *d)
{
    struct arena *a = &r->arena;
    const struct race_side *x = &f->side[0], *y = &f->side[1];
    const struct access_kind *narrow =
        !y->kind->site || (x->kind->site && x->kind->bytes < y->kind->bytes) ? x->kind : y->kind;
    const char *first = kernel_name(r, x, a), *second = kernel_name(r, y, a);
    bool same = x->incarnation.task == y->incarnation.task;
    const char *datum = datum_words(r, d, narrow);
    f->kernel = first ? first : second;
    if (f->reason == RACE_END) {
        f->text = arena_printf(
            a, "%s%s %s %s: nothing orders this access before the end of the block that owns the memory",
            first ? arena_printf(a, "kernel `%s`: ", first) : "", who(x, NULL, a), access_words(x->kind, a), datum);
        f->help =
            "add cluster.sync() (barrier.cluster.arrive and .wait) between the last access and the end of the kernel";
        return;
    }
    f->text = arena_printf(a, "%s%s %s %s, and %s %s: %s", same && first ? arena_printf(a, "kernel `%s`: ", first) : "",
                           who(x, same ? NULL : first, a), access_words(x->kind, a), datum,
                           who(y, same ? NULL : second, a), other_words(f, a), why(f->reason, x, y, a));
    f->note = arena_printf(a, "the other access: %s %s it", who(y, same ? NULL : second, a), access_words(y->kind, a));
    f->help = d->is_clustered && (f->reason == RACE_BLOCKS || f->reason == RACE_MIXED)
                  ? arena_printf(a, "add cluster.sync() (barrier.cluster.arrive and .wait) %s", between(f, a))
                  : remedy(f, between(f, a), a);
    f->help = remedy_in_language(f->help, symbol_of(r, x->kind->site ? x : y), &f->place[!x->kind->site], a);
}
