/* See questions.h. */
#include "explore/questions.h"

#include <stdlib.h>
#include <string.h>

static const char how_places_are_written[] =
    "what is observed is written as 2[0], an argument and its element, or by a "
    "name, as counter[3]; a type may follow, as in 2[0]:u64";

/* The type of this name, if it has one value of 1 to 8 whole bytes. */
static enum isa_type type_of(const char *name)
{
    for (int t = TYPE_none + 1; t < TYPE_COUNT; t++) {
        enum isa_class class = isa_type_class((enum isa_type)t);
        unsigned bits = isa_type_bits((enum isa_type)t);
        if (strcmp(isa_type_name((enum isa_type)t), name) == 0 && bits >= 8 && bits <= 64 &&
            (class == CLASS_U || class == CLASS_S || class == CLASS_B || class == CLASS_F))
            return (enum isa_type)t;
    }
    return TYPE_none;
}

static bool read_place(const char *text, struct place_name *p)
{
    size_t n = strcspn(text, "[:");
    char *end;
    *p = (struct place_name){.name = {text, n}};
    unsigned long argument = strtoul(text, &end, 10);
    bool is_number = n && strspn(text, "0123456789") == n;
    p->argument = is_number ? (unsigned)argument : 0;
    if (!n || (is_number && (!argument || argument > UINT32_MAX || text[n] != '[')))
        return false;
    text += n;
    if (*text == '[') {
        p->element = strtoull(text + 1, &end, 0);
        if (end == text + 1 || *end != ']' || strchr("+-", text[1]))
            return false;
        text = end + 1;
    }
    if (*text == ':')
        return (p->type = type_of(text + 1)) != TYPE_none;
    return !*text;
}

static int number_of(const struct questions *q, const char *name)
{
    for (uint32_t i = 0; i < q->names.n; i++)
        if (strcmp(q->names.at[i], name) == 0)
            return (int)i;
    return -1;
}

void questions_add(struct questions *q, struct observed at, const char *name, bool is_signed)
{
    if (number_of(q, name) >= 0)
        return;
    at.name = name;
    *VEC_PUSH(q->arena, &q->observed) = at;
    *VEC_PUSH(q->arena, &q->names) = name;
    *VEC_PUSH(q->arena, &q->signed_bits) = is_signed ? (uint8_t)(8 * at.bytes) : 0;
}

static const char *find(const struct questions *q, const char *place, struct observed *at, bool *is_signed)
{
    struct place_name name;
    *is_signed = false;
    if (!read_place(place, &name))
        return arena_printf(q->arena, "`%s`: %s", place, how_places_are_written);
    const char *wrong = q->find(q->data, &name, at, is_signed);
    return wrong ? arena_printf(q->arena, "`%s`: %s", place, wrong) : NULL;
}

const char *questions_observe(struct questions *q, const char *place)
{
    struct observed at;
    bool is_signed;
    const char *wrong = find(q, place, &at, &is_signed);
    if (!wrong)
        questions_add(q, at, arena_strdup(q->arena, place), is_signed);
    return wrong;
}

/* The number of the observed place that is the same, by whatever name; -1 if there is none. */
static int number_at(const struct questions *q, const struct observed *at, bool is_signed)
{
    for (uint32_t i = 0; i < q->observed.n; i++) {
        const struct observed *o = &q->observed.at[i];
        if (o->block == at->block && o->address == at->address && o->bytes == at->bytes &&
            !q->signed_bits.at[i] == !is_signed)
            return (int)i;
    }
    return -1;
}

struct claiming {
    struct questions *questions;
    const char *wrong;
};

/* The number of a place in a condition, which becomes observed. */
static int observe_place(void *data, const char *name, unsigned *signed_bits)
{
    struct claiming *c = data;
    struct questions *q = c->questions;
    struct observed at;
    bool is_signed;
    c->wrong = find(q, name, &at, &is_signed);
    if (c->wrong)
        return -1;
    if (number_at(q, &at, is_signed) < 0)
        questions_add(q, at, arena_strdup(q->arena, name), is_signed);
    int number = number_at(q, &at, is_signed);
    *signed_bits = c->questions->signed_bits.at[number];
    return number;
}

const char *questions_claim(struct questions *q, const char *condition, bool forbidden)
{
    struct claiming c = {q, NULL};
    const char *wrong;
    struct condition *parsed = condition_parse(q->arena, condition, observe_place, &c, &wrong);
    if (!parsed)
        return c.wrong ? c.wrong
                       : arena_printf(q->arena, "--%s `%s`: %s", forbidden ? "forbid" : "require", condition, wrong);
    *VEC_PUSH(q->arena, &q->claims) = (struct claim){condition, forbidden, parsed};
    return NULL;
}

const char *questions_ask(struct questions *q, const struct opt_list *observe, const struct opt_list *require,
                          const struct opt_list *forbid)
{
    const char *wrong = NULL;
    for (unsigned i = 0; !wrong && i < observe->n; i++)
        wrong = questions_observe(q, observe->at[i]);
    for (unsigned i = 0; !wrong && i < require->n; i++)
        wrong = questions_claim(q, require->at[i], false);
    for (unsigned i = 0; !wrong && i < forbid->n; i++)
        wrong = questions_claim(q, forbid->at[i], true);
    return wrong;
}
