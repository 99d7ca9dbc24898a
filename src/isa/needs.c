/* The entries of needs.def, targets.def and directives.def, applied; see needs.h and isa.h. */
#include "isa/needs.h"

enum rule_kind { RULE_NEED, RULE_GONE, RULE_BAN };

#define ARCH_FLAG 0x8000
#define A(sm)     ((sm) | ARCH_FLAG)
static const struct {
    const char *ops, *words;
    enum rule_kind kind;
    struct isa_need need;
    const char *text;
} rules[] = {
#define NEED(ops, words, ptx, sm)      {ops, words, RULE_NEED, {ptx, (sm) & ~ARCH_FLAG, ((sm) & ARCH_FLAG) != 0}, NULL},
#define GONE(ops, words, ptx, sm, use) {ops, words, RULE_GONE, {ptx, sm, false}, use},
#define BAN(ops, words, why)           {ops, words, RULE_BAN, {0}, why},
#include "isa/needs.def"
#undef NEED
#undef GONE
#undef BAN
};
#undef A

static const struct {
    const char *name;
    uint16_t ptx;
} targets[] = {
#define TARGET(name, ptx) {#name, ptx},
#include "isa/targets.def"
#undef TARGET
};

static const struct isa_directive directives[] = {
#define DIRECTIVE(name, of, least, most, ptx, sm) {#name, OF_##of, least, most, {ptx, sm, false}},
#include "isa/directives.def"
#undef DIRECTIVE
};

const struct isa_directive *isa_directive_by_name(struct str name)
{
    for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++)
        if (str_is(name, directives[i].name))
            return &directives[i];
    return NULL;
}

bool isa_next_word(const char **rest, char separator, struct str *word)
{
    const char *p = *rest;
    while (*p == separator)
        p++;
    if (!*p)
        return false;
    const char *end = p;
    while (*end && *end != separator)
        end++;
    *word = (struct str){p, (size_t)(end - p)};
    *rest = end;
    return true;
}

static bool is_present(const struct str *words, unsigned n, struct str word)
{
    for (unsigned i = 0; i < n; i++)
        if (str_eq(words[i], word))
            return true;
    return false;
}

/* "a|b": one of them is present; "!a": a is not. */
static bool group_holds(const struct str *words, unsigned n, struct str group)
{
    if (group.p[0] == '!')
        return !is_present(words, n, (struct str){group.p + 1, group.n - 1});
    for (const char *p = group.p, *end = group.p + group.n; p < end;) {
        const char *bar = memchr(p, '|', (size_t)(end - p));
        const char *stop = bar ? bar : end;
        if (is_present(words, n, (struct str){p, (size_t)(stop - p)}))
            return true;
        p = stop + 1;
    }
    return false;
}

static bool applies(unsigned entry, struct str op, const struct str *words, unsigned n)
{
    const char *rest = rules[entry].ops;
    bool named = strcmp(rest, "*") == 0;
    for (struct str w; !named && isa_next_word(&rest, ' ', &w);)
        named = str_eq(w, op);
    rest = rules[entry].words;
    for (struct str g; named && isa_next_word(&rest, ' ', &g);)
        named = group_holds(words, n, g);
    return named;
}

static void raise_need(struct isa_need *need, struct isa_need by)
{
    if (by.ptx > need->ptx)
        need->ptx = by.ptx;
    if (by.sm > need->sm) {
        need->sm = by.sm;
        need->arch = by.arch;
    }
}

void isa_apply_rules(struct isa_inst *inst, struct str op, const struct str *words, unsigned n)
{
    for (unsigned entry = 0; entry < sizeof rules / sizeof rules[0]; entry++) {
        if (!applies(entry, op, words, n))
            continue;
        switch (rules[entry].kind) {
        case RULE_NEED: raise_need(&inst->need, rules[entry].need); break;
        case RULE_GONE:
            inst->gone = rules[entry].need;
            inst->gone_help = rules[entry].text;
            break;
        case RULE_BAN: inst->ban = rules[entry].text; break;
        }
    }
}

uint16_t isa_target_since(struct str name)
{
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (str_is(name, targets[i].name))
            return targets[i].ptx;
    return 0;
}

static const uint8_t last_minor[] = {0, 5, 3, 2, 3, 1, 5, 8, 8, 3}; /* by major version */

bool isa_version_exists(unsigned ptx)
{
    return ptx / 10 >= 1 && ptx / 10 < sizeof last_minor && ptx % 10 <= last_minor[ptx / 10];
}

bool isa_version_is_newer(unsigned ptx)
{
    unsigned major = sizeof last_minor - 1;
    return ptx > 10 * major + last_minor[major];
}
