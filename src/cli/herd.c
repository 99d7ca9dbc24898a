/* See herd.h. The reader splits the text into words once, and parses initial values, columns of
 * instructions and the condition from them. */
#include "cli/herd_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool herd_fail(struct herd *h, uint32_t line, const char *what, struct str which)
{
    if (!h->error && which.n)
        h->error = arena_printf(h->arena, "%s:%u: %s: `%.*s`", h->path, line, what, STR_ARG(which));
    else if (!h->error)
        h->error = arena_printf(h->arena, "%s:%u: %s", h->path, line, what);
    return false;
}

/* ---- words ---- */

static const char *skip_space(const char *p, uint32_t *line)
{
    for (;;) {
        const char *end = NULL;
        if (isspace((unsigned char)*p))
            end = p + 1;
        else if (strncmp(p, "//", 2) == 0)
            end = p + strcspn(p, "\n");
        else if (strncmp(p, "(*", 2) == 0 && (end = strstr(p, "*)")))
            end += 2;
        if (!end)
            return p;
        for (; p < end; p++)
            *line += *p == '\n';
    }
}

static size_t word_length(const char *p)
{
    static const char *const pairs[] = {"/\\", "\\/", "==", "!=", "<=", ">=", "->", "=>"};
    if (*p == '"') {
        const char *end = strchr(p + 1, '"');
        return end ? (size_t)(end + 1 - p) : strlen(p);
    }
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (strncmp(p, pairs[i], 2) == 0)
            return 2;
    /* a sign belongs to its number, because there are no sums */
    size_t n = *p == '-' && isdigit((unsigned char)p[1]);
    while (isalnum((unsigned char)p[n]) || p[n] == '_' || (p[n] == '.' && n) ||
           (p[n] == '+' && n && isalnum((unsigned char)p[n + 1])))
        n++;
    return n ? n : 1;
}

static void split(struct herd *h, const char *text)
{
    uint32_t line = 1;
    for (const char *p = skip_space(text, &line); *p; p = skip_space(p, &line)) {
        size_t n = word_length(p);
        *VEC_PUSH(h->arena, &h->words) = (struct word){{p, n}, line};
        h->test->is_signed |= n > 1 && *p == '-' && isdigit((unsigned char)p[1]);
        for (size_t i = 0; i < n; i++)
            line += p[i] == '\n';
        p += n;
    }
}

/* Takes the next word; an empty one at the end. */
static struct word *next(struct herd *h)
{
    static struct word none;
    if (h->at < h->words.n)
        return &h->words.at[h->at];
    none = (struct word){{"", 0}, h->words.n ? h->words.at[h->words.n - 1].line : 1};
    return &none;
}

static bool is_next(struct herd *h, const char *text)
{
    return str_is(next(h)->text, text);
}

static bool take(struct herd *h, const char *text)
{
    bool is = is_next(h, text);
    h->at += is;
    return is;
}

static bool expect(struct herd *h, const char *text)
{
    return take(h, text) ||
           herd_fail(h, next(h)->line, arena_printf(h->arena, "`%s` is missing before this", text), next(h)->text);
}

bool herd_number(struct str s, uint32_t *value)
{
    char text[24], *end;
    bool negative = s.n && *s.p == '-';
    if (s.n - negative == 0 || s.n >= sizeof text || !isdigit((unsigned char)s.p[negative]))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    long long number = strtoll(text, &end, 0);
    *value = (uint32_t)number;
    return *end == 0 && number >= INT32_MIN && number <= UINT32_MAX;
}

static bool take_number(struct herd *h, uint32_t *value)
{
    if (!herd_number(next(h)->text, value))
        return herd_fail(h, next(h)->line, "a 32-bit number is missing before this", next(h)->text);
    h->at++;
    return true;
}

static bool is_register(struct str s)
{
    uint32_t number;
    return s.n > 1 && *s.p == 'r' && herd_number((struct str){s.p + 1, s.n - 1}, &number);
}

/* ---- what is there at first ---- */

static struct herd_variable *variable(struct herd *h, struct str name)
{
    struct herd_test *t = h->test;
    for (uint32_t i = 0; i < t->variables.n; i++)
        if (str_is(name, t->variables.at[i].name))
            return &t->variables.at[i];
    struct herd_variable *v = VEC_PUSH(h->arena, &t->variables);
    *v = (struct herd_variable){arena_strndup(h->arena, name.p, name.n), 0};
    return v;
}

uint32_t herd_offset(struct herd *h, struct str name)
{
    return (uint32_t)(variable(h, name) - h->test->variables.at) * 4;
}

/* Finds the thread of a word "P1" or "1"; `make` adds it if it is new. */
static struct litmus_thread *thread_of(struct herd *h, struct word *w, bool make)
{
    struct str s = w->text;
    uint32_t number;
    enum { MOST = 64 };
    if (s.n && *s.p == 'P')
        s = (struct str){s.p + 1, s.n - 1};
    if (!herd_number(s, &number) || number >= MOST) {
        herd_fail(h, w->line, "this is not a thread", w->text);
        return NULL;
    }
    while (make && h->threads.n <= number)
        *VEC_PUSH(h->arena, &h->threads) = (struct litmus_thread){0};
    if (number >= h->threads.n)
        herd_fail(h, w->line, "there is no such thread", w->text);
    return number < h->threads.n ? &h->threads.at[number] : NULL;
}

static bool read_initial(struct herd *h)
{
    struct word *w = next(h);
    struct litmus_thread *t = NULL;
    uint32_t value = 0;
    h->at++;
    if (take(h, ":")) {
        t = thread_of(h, w, true);
        w = next(h);
        h->at++;
        if (!t || !is_register(w->text))
            return herd_fail(h, w->line, "this is not a register", w->text);
    }
    if (is_next(h, "@") || is_next(h, "aliases"))
        return herd_fail(h, w->line, "only the generic proxy is explored", w->text);
    if (!isalpha((unsigned char)*w->text.p) && *w->text.p != '_')
        return herd_fail(h, w->line, "this is not a variable", w->text);
    if (take(h, "=")) {
        if (is_next(h, "&") || isalpha((unsigned char)*next(h)->text.p))
            return herd_fail(h, w->line, "addresses as values are not explored", next(h)->text);
        if (!take_number(h, &value))
            return false;
    }
    if (!t)
        variable(h, w->text)->value = value;
    else
        *VEC_PUSH(h->arena, &t->initial) = (struct herd_variable){arena_strndup(h->arena, w->text.p, w->text.n), value};
    return true;
}

static bool read_head(struct herd *h)
{
    if (!take(h, "PTX") && !take(h, "ptx"))
        return herd_fail(h, next(h)->line, "a litmus test for PTX begins with `PTX NAME`", (struct str){0});
    const struct word *first = next(h), *last = first; /* the name is the rest of the first line */
    while (h->at < h->words.n && !is_next(h, "{")) {
        const struct word *w = next(h);
        last = w->line == first->line && *w->text.p != '"' ? w : last;
        h->at++;
    }
    h->test->name = arena_strndup(h->arena, first->text.p, (size_t)(last->text.p + last->text.n - first->text.p));
    if (!expect(h, "{"))
        return false;
    while (!take(h, "}")) {
        if (h->at == h->words.n)
            return herd_fail(h, next(h)->line, "`}` is missing", (struct str){0});
        if (!take(h, ";") && !read_initial(h))
            return false;
    }
    take(h, ";");
    return true;
}

/* ---- columns ---- */

static bool read_thread(struct herd *h)
{
    enum { GPUS = 64 };
    struct word *w = next(h);
    h->at++;
    struct litmus_thread *t = thread_of(h, w, true);
    if (!t || !expect(h, "@") || !expect(h, "cta") || !take_number(h, &t->cta) || !expect(h, ",") ||
        !expect(h, "gpu") || !take_number(h, &t->gpu))
        return false;
    uint32_t number = (uint32_t)(t - h->threads.at);
    for (uint32_t i = 0; i < h->columns.n; i++)
        if (h->columns.at[i] == number)
            return herd_fail(h, w->line, "this thread has a column already", w->text);
    *VEC_PUSH(h->arena, &h->columns) = number;
    return t->gpu < GPUS || herd_fail(h, w->line, "the number of a GPU is 0 to 63", (struct str){0});
}

static bool is_end(struct herd *h)
{
    static const char *const ends[] = {"exists", "~", "forall", "locations", "filter"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (is_next(h, ends[i]))
            return true;
    return h->at == h->words.n;
}

static bool read_row(struct herd *h)
{
    for (uint32_t column = 0;; column++) {
        uint32_t start = h->at;
        while (h->at < h->words.n && !is_next(h, "|") && !is_next(h, ";"))
            h->at++;
        if (h->at > start && column >= h->columns.n)
            return herd_fail(h, h->words.at[start].line, "there is no thread for this column", h->words.at[start].text);
        if (h->at > start)
            *VEC_PUSH(h->arena, &h->threads.at[h->columns.at[column]].code) =
                (struct instruction){&h->words.at[start], h->at - start};
        if (take(h, ";"))
            return true;
        if (!expect(h, "|"))
            return false;
    }
}

static bool read_columns(struct herd *h)
{
    do
        if (!read_thread(h))
            return false;
    while (take(h, "|"));
    if (!expect(h, ";"))
        return false;
    while (!is_end(h))
        if (!read_row(h))
            return false;
    return true;
}

/* ---- the condition ---- */

/* Is the name known before the condition? A variable that no instruction uses is 0; a misspelt name
 * must not pass for one. */
static bool is_known(const struct herd *h, struct str name)
{
    for (uint32_t i = 0; i < h->condition; i++)
        if (str_eq(h->words.at[i].text, name))
            return true;
    return false;
}

/* Reads a place, "x", "P1:r0" or "1:r0", and returns its number. */
static int read_place(struct herd *h)
{
    struct herd_test *t = h->test;
    struct word *w = next(h);
    struct herd_place p = {.of_memory = true};
    h->at++;
    if (take(h, ":")) {
        struct litmus_thread *thread = thread_of(h, w, false);
        struct str r = next(h)->text;
        if (!thread || !is_register(r)) {
            herd_fail(h, w->line, "this is not a register", r);
            return -1;
        }
        h->at++;
        p = (struct herd_place){arena_printf(h->arena, "P%u:%.*s", (uint32_t)(thread - h->threads.at), STR_ARG(r)),
                                false, 0};
    } else if (!is_known(h, w->text)) {
        herd_fail(h, w->line, "no instruction and no `{ }` has this variable", w->text);
        return -1;
    } else {
        p.name = arena_strndup(h->arena, w->text.p, w->text.n);
        p.offset = herd_offset(h, w->text);
    }
    for (uint32_t i = 0; i < t->places.n; i++)
        if (strcmp(t->places.at[i].name, p.name) == 0)
            return (int)i;
    if (!p.of_memory) {
        p.offset = t->register_bytes;
        t->register_bytes += 4;
    }
    *VEC_PUSH(h->arena, &t->places) = p;
    return (int)t->places.n - 1;
}

static bool read_locations(struct herd *h)
{
    if (!take(h, "locations"))
        return true;
    if (!expect(h, "["))
        return false;
    while (!take(h, "]"))
        if (h->at == h->words.n || (!take(h, ";") && read_place(h) < 0))
            return herd_fail(h, next(h)->line, "`]` is missing", (struct str){0});
    return true;
}

static bool begins_condition(struct herd *h)
{
    return is_next(h, "exists") || is_next(h, "forall") || is_next(h, "~") || h->at == h->words.n;
}

/* Reads an expression for condition_parse(), up to the end or to the word that `ends` accepts. */
static bool read_expression(struct herd *h, bool (*ends)(struct herd *h), struct text *t)
{
    static const struct {
        const char *herd, *ours;
    } words[] = {{"/\\", " && "}, {"\\/", " || "}, {"=", " == "}, {"==", " == "}, {"!=", " != "}, {"~", "!"},
                 {"not", "!"},    {"(", "("},      {")", ")"},    {"<", " < "},   {">", " > "},   {"<=", " <= "},
                 {">=", " >= "},  {"[", ""},       {"]", ""},     {"true", "1"},  {"false", "0"}};
    while (h->at < h->words.n && !(ends && ends(h))) {
        struct word *w = next(h);
        size_t i = 0, n = sizeof words / sizeof words[0];
        uint32_t number;
        while (i < n && !str_is(w->text, words[i].herd))
            i++;
        bool thread = h->at + 1 < h->words.n && str_is(h->words.at[h->at + 1].text, ":");
        if (i < n || (!thread && herd_number(w->text, &number))) {
            h->at++;
            if (i < n)
                text_puts(t, words[i].ours);
            else
                text_printf(t, h->test->is_signed ? "%d" : "%u", number);
            continue;
        }
        if (!thread && !isalpha((unsigned char)*w->text.p) && *w->text.p != '_')
            return herd_fail(h, w->line, "this is not a register or a variable", w->text);
        int place = read_place(h);
        if (place < 0)
            return false;
        text_printf(t, "place_%d", place);
    }
    return true;
}

/* Reads the condition. `filter` restricts the executions that count to those for which its
   expression is true. */
static bool read_condition(struct herd *h)
{
    struct text filter = {.arena = h->arena}, t = {.arena = h->arena};
    if (take(h, "filter") && !read_expression(h, begins_condition, &filter))
        return false;
    const char *start = next(h)->text.p;
    bool negated = take(h, "~");
    if (take(h, "exists"))
        h->test->quantifier = negated ? HERD_NOT_EXISTS : HERD_EXISTS;
    else if (!negated && take(h, "forall"))
        h->test->quantifier = HERD_FORALL;
    else
        return herd_fail(h, next(h)->line, "a condition is missing: exists, ~exists or forall", (struct str){0});
    if (!read_expression(h, NULL, &t))
        return false;
    const struct word *last = &h->words.at[h->words.n - 1];
    char *shown = arena_strndup(h->arena, start, (size_t)(last->text.p + last->text.n - start));
    for (char *p = shown; *p; p++)
        *p = isspace((unsigned char)*p) ? ' ' : *p; /* puts the expression on one line */
    h->test->condition = shown;
    h->test->expression = t.n ? t.p : "1";
    h->test->filter = filter.n ? filter.p : NULL;
    return true;
}

const char *herd_read(struct arena *arena, const char *path, const char *text, struct herd_test *test)
{
    struct herd h = {.arena = arena, .path = path, .test = test, .warp = 1, .out = {.arena = arena}};
    *test = (struct herd_test){0};
    split(&h, text);
    if (!read_head(&h) || !read_columns(&h))
        return h.error;
    h.condition = h.at;
    if (!read_locations(&h) || !read_condition(&h) || !herd_write_kernel(&h))
        return h.error;
    test->memory_bytes = test->variables.n ? test->variables.n * 4 : 4;
    test->register_bytes = test->register_bytes ? test->register_bytes : 4;
    return NULL;
}
