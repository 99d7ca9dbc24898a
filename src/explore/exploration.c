/* See exploration.h. */
#include "explore/exploration.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/file_name.h"
#include "explore/schedules.h"

/* ---- JSON ---- */

/* Marks a string of digits, a word too large for json_int_t. JSON escapes this character. */
#define WIDE "\x01"
static const char wide_begins[] = "\"\\u0001";

static json_t *word_json(uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, WIDE "%" PRIu64, value);
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_string(text);
}

char *exploration_json_text(const json_t *json, size_t flags)
{
    char *text = json_dumps(json, flags), *to = text;
    size_t n = strlen(wide_begins);
    for (const char *from = text; from && *from;) {
        bool wide = strncmp(from, wide_begins, n) == 0;
        from += wide ? n : 0;
        while (wide && *from >= '0' && *from <= '9')
            *to++ = *from++;
        if (wide)
            from++; /* skips the closing quote */
        else
            *to++ = *from++;
    }
    if (text)
        *to = 0;
    return text;
}

static json_t *outcomes_json(const struct verdict *v)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < v->outcomes.n; i++) {
        json_t *one = json_array();
        for (uint32_t k = 0; k < v->n_observed; k++)
            json_array_append_new(one, word_json(v->outcomes.at[i][k]));
        json_array_append_new(all, one);
    }
    return all;
}

static json_t *races_json(const struct verdict *v)
{
    json_t *all = json_array();
    uint32_t last[2] = {0, 0};
    for (uint32_t i = 0; i < v->races.n; i++) {
        uint32_t a = program_line(v->races.at[i].a), b = program_line(v->races.at[i].b);
        if (i && a == last[0] && b == last[1])
            continue;
        last[0] = a;
        last[1] = b;
        json_array_append_new(all, json_pack("[I, I]", (json_int_t)a, (json_int_t)b));
    }
    return all;
}

static int compare_lines(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static json_t *stops_json(const struct exploration *e, bool faults)
{
    const struct verdict *v = &e->result->verdict;
    json_t *all = json_array();
    uint32_t *lines = ARENA_ARRAY(e->arena, uint32_t, v->stops.n), n = 0;
    for (uint32_t i = 0; i < v->stops.n; i++)
        if ((v->stops.at[i].fault != NULL) == faults)
            lines[n++] = program_line(v->stops.at[i].insn);
    qsort(lines, n, sizeof *lines, compare_lines);
    for (uint32_t i = 0; i < n; i++)
        if (!i || lines[i] != lines[i - 1])
            json_array_append_new(all, json_integer((json_int_t)lines[i]));
    return all;
}

/* ---- findings ---- */

const char *exploration_place_text(struct arena *arena, const struct ir_insn *insn)
{
    if (!insn || !insn->origin)
        return "?";
    const struct cuda_place *cuda = ptx_cuda_place(insn->module, insn->loc, arena);
    if (cuda)
        return arena_printf(arena, "%s:%u (PTX %u)", file_as_shown(cuda->file, arena), cuda->line, program_line(insn));
    return arena_printf(arena, "%s:%u", insn->module->source->name, program_line(insn));
}

const char *exploration_insn_text(struct arena *arena, const struct ir_insn *insn)
{
    if (!insn || !insn->origin)
        return "";
    struct str t = place_locate(ptx_place(insn->module, insn->origin->offset, insn->origin->length)).text;
    while (t.n && (*t.p == ' ' || *t.p == '\t')) {
        t.p++;
        t.n--;
    }
    return arena_printf(arena, "%.*s", STR_ARG(t));
}

struct finding {
    const char *kind;
    const char *text;
    const struct example *example;
    const struct interleaving *interleaving; /* an interleaving that shows it, or NULL */
};

const char *exploration_thread_text(const struct exploration *e, uint32_t block, uint32_t thread)
{
    struct arena *arena = e->arena;
    return e->result->threads_per_block > 1 ? arena_printf(arena, "block %u, thread %u", block, thread)
                                            : arena_printf(arena, "block %u", block);
}

enum { MAX_SHOWN = 50, MAX_EXAMPLES = 8, MAX_LINES = 12 };

/* Adds an execution, a line for each of its reads. */
static void add_example(const struct exploration *e, const struct example *x, struct text *t)
{
    uint32_t most = e->examples ? UINT32_MAX : MAX_LINES;
    for (uint32_t i = 0; x && i < x->n && i < most; i++) {
        const struct example_read *r = &x->reads[i];
        text_printf(t, "        %s: %s reads %llu", exploration_thread_text(e, r->block, r->thread),
                    exploration_place_text(e->arena, r->insn), (unsigned long long)r->value);
        if (r->from)
            text_printf(t, " of %s: %s\n", exploration_thread_text(e, r->from_block, r->from_thread),
                        exploration_place_text(e->arena, r->from));
        else
            text_puts(t, ", the initial value\n");
    }
    if (x && (x->is_cut || x->n > most))
        text_puts(t, x->is_cut || e->examples ? "        ...\n" : "        ... (--examples shows all)\n");
}

const char *exploration_value_text(const struct exploration *e, uint32_t k, uint64_t value)
{
    unsigned above = e->signed_bits && e->signed_bits[k] ? 64u - e->signed_bits[k] : 64;
    return above == 64 ? arena_printf(e->arena, "%" PRIu64, value)
                       : arena_printf(e->arena, "%" PRId64, (int64_t)(value << above) >> above);
}

/* The first outcome for which the claim is false; the number of outcomes if there is none. */
static uint32_t breaks_claim(const struct verdict *v, const struct claim *c)
{
    uint32_t i = 0;
    while (i < v->outcomes.n && !claim_is_broken(c, v->outcomes.at[i]))
        i++;
    return i;
}

static const char *broken_claim(const struct exploration *e, const struct claim *c, const uint64_t *values)
{
    struct text t = {.arena = e->arena};
    text_printf(&t, "%s `%s`: not of", c->forbidden ? "--forbid" : "--require", c->text);
    for (uint32_t k = 0; k < e->result->verdict.n_observed; k++)
        text_printf(&t, " %s=%s", e->names[k], exploration_value_text(e, k, values[k]));
    return t.p;
}

static const char *two_lines(struct arena *arena, const struct ir_insn *insn)
{
    return arena_printf(arena, "%s\n      %s", exploration_place_text(arena, insn), exploration_insn_text(arena, insn));
}

/* Why executions were cut off, with the place and a remedy. */
static const char *bound_text(const struct exploration *e, unsigned i)
{
    const struct explore_result *r = e->result;
    return r->bound_at[i]
               ? arena_printf(e->arena, "%s at %s", r->bounds[i], exploration_place_text(e->arena, r->bound_at[i]))
               : r->bounds[i];
}

static json_t *bounds_json(const struct exploration *e)
{
    json_t *all = json_array();
    for (unsigned i = 0; i < e->result->n_bounds; i++)
        json_array_append_new(all, json_string(bound_text(e, i)));
    return all;
}

static const struct interleaving *shown_by(const struct exploration *e, enum notice_kind kind, const struct ir_insn *a,
                                           const struct ir_insn *b)
{
    return e->schedule ? interleaving_of(e->result->interleavings, kind, NULL, a, b) : NULL;
}

static unsigned find_all(const struct exploration *e, struct finding **all)
{
    const struct verdict *v = &e->result->verdict;
    struct arena *arena = e->arena;
    struct finding *f = *all = ARENA_ARRAY(arena, struct finding, v->races.n + v->stops.n + 3 + e->n_claims);
    for (uint32_t i = 0; i < v->races.n; i++) {
        const struct race *r = &v->races.at[i];
        const char *text = arena_printf(arena, "%s\n    and %s", two_lines(arena, r->a), two_lines(arena, r->b));
        *f++ = (struct finding){"race", text, r->example, shown_by(e, NOTICE_RACE, r->a, r->b)};
    }
    for (uint32_t i = 0; i < v->stops.n; i++) {
        const struct stop *t = &v->stops.at[i];
        const char *text = two_lines(arena, t->insn);
        if (t->fault)
            text = arena_printf(arena, "%s\n      %s", text, t->fault);
        *f++ = (struct finding){t->fault ? "fault" : "trap", text, t->example, shown_by(e, NOTICE_STOP, t->insn, NULL)};
    }
    if (v->deadlock.insn)
        *f++ = (struct finding){"deadlock", two_lines(arena, v->deadlock.insn), v->deadlock.example,
                                shown_by(e, NOTICE_DEADLOCK, v->deadlock.insn, NULL)};
    if (v->livelock.insn)
        *f++ = (struct finding){"livelock", two_lines(arena, v->livelock.insn), v->livelock.example,
                                shown_by(e, NOTICE_LIVELOCK, v->livelock.insn, NULL)};
    if (v->livelock_by_atomics.insn)
        *f++ = (struct finding){"livelock",
                                arena_printf(arena, "%s\n      by atomic operations that write what they have read",
                                             two_lines(arena, v->livelock_by_atomics.insn)),
                                v->livelock_by_atomics.example,
                                shown_by(e, NOTICE_LIVELOCK, v->livelock_by_atomics.insn, NULL)};
    for (unsigned i = 0; i < e->n_claims; i++) {
        uint32_t breaks = breaks_claim(v, &e->claims[i]);
        if (breaks < v->outcomes.n)
            *f++ = (struct finding){"outcome", broken_claim(e, &e->claims[i], v->outcomes.at[breaks]),
                                    v->examples.at[breaks], e->schedule ? schedule_of_outcome(e, breaks) : NULL};
    }
    return (unsigned)(f - *all);
}

unsigned exploration_findings(const struct exploration *e)
{
    struct finding *all;
    return find_all(e, &all);
}

int exploration_status(const struct exploration *e)
{
    if (exploration_findings(e))
        return 1;
    return e->result->complete ? 0 : 3;
}

const char *exploration_refusal(const struct exploration *e)
{
    const struct refusal *r = &e->result->refusal;
    return r->insn ? arena_printf(e->arena, "%s: %s\n  %s", exploration_place_text(e->arena, r->insn), r->text,
                                  exploration_insn_text(e->arena, r->insn))
                   : r->text;
}

static const char *finding_schedule(const struct exploration *e, const struct finding *f, unsigned number)
{
    return e->schedule ? schedule_finding_text(e, f->interleaving, number) : NULL;
}

json_t *exploration_json(const struct exploration *e)
{
    const struct explore_result *r = e->result;
    const struct verdict *v = &r->verdict;
    json_t *o = json_object(), *observed = json_array(), *findings = json_array();
    struct finding *all;
    unsigned n = find_all(e, &all);
    for (uint32_t i = 0; i < v->n_observed; i++)
        json_array_append_new(observed, json_string(e->names[i]));
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(findings, json_pack("{s:s, s:s, s:s*}", "kind", all[i].kind, "text", all[i].text,
                                                  "schedule", finding_schedule(e, &all[i], i)));
    json_object_set_new(o, "complete", json_boolean(r->complete));
    json_object_set_new(o, "bounds", bounds_json(e));
    json_object_set_new(o, "graphs", json_integer((json_int_t)v->graphs));
    json_object_set_new(o, "blocked", json_integer((json_int_t)v->blocked));
    json_object_set_new(o, "dead", json_integer((json_int_t)v->dead));
    json_object_set_new(o, "duplicates", json_integer((json_int_t)v->duplicates));
    json_object_set_new(o, "observed", observed);
    json_object_set_new(o, "outcomes", outcomes_json(v));
    json_object_set_new(o, "races", races_json(v));
    json_object_set_new(o, "traps", stops_json(e, false));
    json_object_set_new(o, "faults", stops_json(e, true));
    json_object_set_new(o, "deadlock", json_boolean(v->deadlock.insn));
    json_object_set_new(o, "livelock", json_boolean(v->livelock.insn));
    json_object_set_new(o, "livelock_by_atomics", json_boolean(v->livelock_by_atomics.insn));
    json_object_set_new(o, "findings", findings);
    if (e->schedule)
        json_object_set_new(o, "schedules", schedules_json(e));
    json_object_set_new(o, "seconds", json_real(e->seconds));
    return o;
}

/* ---- text ---- */

void exploration_outcomes_text(const struct exploration *e, struct text *t)
{
    const struct verdict *v = &e->result->verdict;
    if (!v->n_observed)
        return;
    if (!v->outcomes.n) {
        text_puts(t, e->result->complete ? "outcomes: none, as no execution completes\n"
                                         : "outcomes: none in the part that was explored\n");
        return;
    }
    text_printf(t, "outcomes:\n ");
    text_puts(t, e->numbered ? "     " : "");
    for (uint32_t k = 0; k < v->n_observed; k++)
        text_printf(t, " %10s", e->names[k]);
    for (uint32_t i = 0; i < v->outcomes.n && i < MAX_SHOWN; i++) {
        text_printf(t, "\n ");
        if (e->numbered)
            text_printf(t, "%4u:", i + 1);
        for (uint32_t k = 0; k < v->n_observed; k++)
            text_printf(t, " %10s", exploration_value_text(e, k, v->outcomes.at[i][k]));
        if (e->schedule)
            text_printf(t, "   %s", schedule_outcome_text(e, i));
    }
    if (v->outcomes.n > MAX_SHOWN)
        text_printf(t, "\n  and %u more (--json has them all)", v->outcomes.n - MAX_SHOWN);
    text_puts(t, "\n");
    for (uint32_t i = 0; i < v->outcomes.n && (e->examples || v->outcomes.n <= MAX_EXAMPLES); i++) {
        text_printf(t, "    an execution with");
        for (uint32_t k = 0; k < v->n_observed; k++)
            text_printf(t, " %s=%s", e->names[k], exploration_value_text(e, k, v->outcomes.at[i][k]));
        text_puts(t, v->examples.at[i]->n ? ":\n" : ": nothing is read\n");
        add_example(e, v->examples.at[i], t);
    }
}

void exploration_findings_text(const struct exploration *e, struct text *t)
{
    const struct explore_result *r = e->result;
    struct finding *all;
    unsigned n = find_all(e, &all);
    for (unsigned i = 0; i < n; i++) {
        text_printf(t, "%s: %s\n", all[i].kind, all[i].text);
        if (all[i].example && all[i].example->n)
            text_puts(t, "    in an execution in which\n");
        add_example(e, all[i].example, t);
        if (e->schedule)
            text_printf(t, "    schedule: %s\n", finding_schedule(e, &all[i], i));
    }
    if (e->stats)
        text_printf(t,
                    "graphs %" PRIu64 ", blocked %" PRIu64 ", dead %" PRIu64 ", duplicates %" PRIu64
                    "; %u threads, %" PRIu64 " runs of them, %.3f s\n",
                    r->verdict.graphs, r->verdict.blocked, r->verdict.dead, r->verdict.duplicates, r->n_threads,
                    r->n_events, e->seconds);
    uint32_t weak = e->schedule ? schedule_count_weak(e) : 0;
    if (weak)
        text_printf(t, "no schedule for %u of %u outcomes: no interleaving shows them, only weak memory behaviour\n",
                    weak, r->verdict.outcomes.n);
    if (r->complete)
        text_printf(t, "explored: all executions, %u finding%s\n", n, n == 1 ? "" : "s");
    for (unsigned i = 0; i < r->n_bounds; i++)
        text_printf(t, "not exhausted: %s\n", bound_text(e, i));
    if (!r->complete)
        text_printf(t, "explored: a part of all executions, %u finding%s\n", n, n == 1 ? "" : "s");
}
