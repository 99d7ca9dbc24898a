/* See codec.h. */
#include "record/codec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void codec_free(struct codec *c)
{
    free(c->out.at);
    free(c->words.at);
    free(c->values.at);
}

void codec_fail(struct codec *c, const char *format, ...)
{
    va_list args;
    if (c->error[0])
        return;
    va_start(args, format);
    vsnprintf(c->error, sizeof c->error, format, args);
    va_end(args);
}

/* ---- bytes ---- */

#define PUT(c, vec, bytes, count)                                                                                      \
    do {                                                                                                               \
        if (!VEC_RESERVE(&(c)->vec, (count))) {                                                                        \
            (c)->no_memory = true;                                                                                     \
        } else {                                                                                                       \
            memcpy((c)->vec.at + (c)->vec.n, (bytes), (count));                                                        \
            (c)->vec.n += (uint32_t)(count);                                                                           \
        }                                                                                                              \
    } while (0)

enum { LEB_MOST = 10 };

static unsigned leb(uint64_t v, char bytes[LEB_MOST])
{
    unsigned n = 0;
    do {
        bytes[n++] = (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
    } while (v >>= 7);
    return n;
}

static void put_value(struct codec *c, uint64_t v)
{
    char bytes[LEB_MOST];
    unsigned n = leb(v, bytes);
    PUT(c, values, bytes, n);
}

static uint64_t take_leb(struct codec *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; c->in.n && shift < 64; shift += 7) {
        uint8_t byte = (uint8_t)*c->in.p++;
        c->in.n--;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
    codec_fail(c, "a number is cut off");
    return 0;
}

static uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}
static uint64_t unzigzag(uint64_t v)
{
    return v >> 1 ^ (0 - (v & 1));
}

/* Takes the next field. Writing, notes whether it is set; reading, returns whether it is there. */
static bool next_field(struct codec *c, bool is_set)
{
    unsigned i = c->field++;
    if (!c->reads && is_set)
        c->mask |= 1ull << i;
    return c->reads ? !c->error[0] && c->mask >> i & 1 : is_set;
}

/* ---- text ---- */

static void put_text(struct codec *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put_text(struct codec *c, const char *format, ...)
{
    char text[128];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    PUT(c, out, text, (unsigned)n);
}

static void put_quoted(struct codec *c, const char *name, struct str s)
{
    put_text(c, " %s=\"", name);
    for (size_t i = 0; i < s.n; i++) {
        uint8_t byte = (uint8_t)s.p[i];
        if (byte == '"' || byte == '\\')
            put_text(c, "\\%c", byte);
        else if (byte == '\n')
            put_text(c, "\\n");
        else if (byte < ' ' || byte == 0x7f)
            put_text(c, "\\x%02x", byte);
        else
            PUT(c, out, &s.p[i], 1);
    }
    put_text(c, "\"");
}

static struct codec_field *find_field(struct codec *c, const char *name)
{
    for (unsigned i = 0; i < c->n_fields; i++)
        if (str_is(c->fields[i].name, name)) {
            c->fields[i].used = true;
            return &c->fields[i];
        }
    return NULL;
}

static bool is_blank(char x)
{
    return x == ' ' || x == '\t' || x == '\r';
}

static void skip_blanks(struct str *s)
{
    while (s->n && is_blank(*s->p)) {
        s->p++;
        s->n--;
    }
}

static struct str take_until(struct str *s, const char *ends)
{
    struct str word = {s->p, 0};
    while (s->n && !strchr(ends, *s->p)) {
        s->p++;
        s->n--;
        word.n++;
    }
    return word;
}

static int hex_digit(char x)
{
    return x >= '0' && x <= '9'   ? x - '0'
           : x >= 'a' && x <= 'f' ? x - 'a' + 10
           : x >= 'A' && x <= 'F' ? x - 'A' + 10
                                  : -1;
}

/* Reads a text behind its opening quote. Its offset in `words` stands for it until all texts are
 * read, because `words` may move. */
static struct str take_quoted(struct codec *c, struct str *s)
{
    struct str word = {(const char *)(uintptr_t)c->words.n, 0};
    while (s->n && *s->p != '"') {
        char byte = *s->p++;
        s->n--;
        if (byte == '\\' && s->n) {
            char what = *s->p++;
            s->n--;
            byte = what == 'n' ? '\n' : what;
            if (what == 'x' && s->n >= 2 && hex_digit(s->p[0]) >= 0 && hex_digit(s->p[1]) >= 0) {
                byte = (char)(hex_digit(s->p[0]) << 4 | hex_digit(s->p[1]));
                s->p += 2;
                s->n -= 2;
            }
        }
        PUT(c, words, &byte, 1);
        word.n++;
    }
    if (!s->n)
        codec_fail(c, "the closing quote of a text is missing");
    else {
        s->p++;
        s->n--;
    }
    return word;
}

static void take_fields(struct codec *c, struct str line)
{
    bool quoted[CODEC_FIELDS] = {false};
    c->n_fields = 0;
    c->words.n = 0;
    for (skip_blanks(&line); line.n && *line.p != '#' && !c->error[0]; skip_blanks(&line)) {
        struct codec_field f = {.name = take_until(&line, "= \t\r#")};
        if (!line.n || *line.p != '=' || c->n_fields == CODEC_FIELDS) {
            codec_fail(c, "`%.*s` is not a field: NAME=VALUE", STR_ARG(f.name));
            return;
        }
        line.p++;
        line.n--;
        if (line.n && *line.p == '"') {
            line.p++;
            line.n--;
            quoted[c->n_fields] = true;
            f.value = take_quoted(c, &line);
        } else {
            f.value = take_until(&line, " \t\r#");
        }
        c->fields[c->n_fields++] = f;
    }
    for (unsigned i = 0; i < c->n_fields; i++)
        if (quoted[i])
            c->fields[i].value.p = c->words.at + (uintptr_t)c->fields[i].value.p;
}

/* "12", "0x1f", "-1" */
static bool take_number(struct str *s, uint64_t *v)
{
    char digits[32];
    struct str word = take_until(s, ",");
    if (!word.n || word.n >= sizeof digits)
        return false;
    memcpy(digits, word.p, word.n);
    digits[word.n] = 0;
    char *end;
    bool hex = word.n > 2 && digits[0] == '0' && digits[1] == 'x';
    if (!hex && (hex_digit(digits[0]) < 0 || hex_digit(digits[0]) > 9))
        return false;
    *v = strtoull(digits, &end, hex ? 16 : 10);
    return !*end;
}

/* ---- records ---- */

void codec_reset(struct codec *c)
{
    c->out.n = 0;
    c->values.n = 0;
    c->mask = 0;
    c->field = 0;
    c->n_numbers = 0;
}

void codec_begin_write(struct codec *c, unsigned kind, const char *const *kinds)
{
    char bytes[LEB_MOST];
    codec_reset(c);
    if (c->text)
        put_text(c, "%s", kinds[kind]);
    else
        PUT(c, out, bytes, leb(kind, bytes));
}

/* Inserts mask and values behind the kind, and the length in front. */
void codec_end_write(struct codec *c)
{
    char bytes[2 * LEB_MOST];
    if (c->text) {
        PUT(c, out, "\n", 1);
        return;
    }
    unsigned n = leb(c->mask, bytes);
    PUT(c, out, bytes, n);
    if (c->values.n)
        PUT(c, out, c->values.at, c->values.n);
    n = leb(c->out.n, bytes);
    if (!VEC_RESERVE(&c->out, n)) {
        c->no_memory = true;
        return;
    }
    memmove(c->out.at + n, c->out.at, c->out.n);
    memcpy(c->out.at, bytes, n);
    c->out.n += n;
}

int codec_begin_read(struct codec *c, struct str record, const char *const *kinds, unsigned n)
{
    uint64_t kind = 0;
    codec_reset(c);
    c->in = record;
    if (c->text) {
        struct str word = take_until(&c->in, " \t\r#");
        while (kind < n && !str_is(word, kinds[kind]))
            kind++;
        if (kind == n)
            codec_fail(c, "`%.*s` is not a kind of record", STR_ARG(word));
        else
            take_fields(c, c->in);
    } else {
        kind = take_leb(c);
        c->mask = take_leb(c);
        if (kind >= n)
            codec_fail(c, "%llu is not a kind of record", (unsigned long long)kind);
    }
    return c->error[0] ? -1 : (int)kind;
}

bool codec_end_read(struct codec *c)
{
    for (unsigned i = 0; c->text && i < c->n_fields; i++)
        if (!c->fields[i].used)
            codec_fail(c, "the record has no field `%.*s`", STR_ARG(c->fields[i].name));
    if (!c->text && (c->in.n || (c->field < CODEC_FIELDS && c->mask >> c->field)))
        codec_fail(c, "the record is longer than its fields");
    return !c->error[0];
}

/* ---- fields ---- */

static void number(struct codec *c, const char *name, uint64_t *v, uint64_t most, bool hex)
{
    if (c->text && !c->reads) {
        if (*v)
            put_text(c, hex ? " %s=0x%llx" : " %s=%llu", name, (unsigned long long)*v);
        return;
    }
    if (c->text) {
        struct codec_field *f = find_field(c, name);
        struct str value = f ? f->value : (struct str){0};
        *v = 0;
        if (f && (!take_number(&value, v) || value.n))
            codec_fail(c, "`%s=%.*s` is not a number", name, STR_ARG(f->value));
    } else if (!next_field(c, *v)) {
        *v = c->reads ? 0 : *v;
    } else if (c->reads) {
        *v = take_leb(c);
    } else {
        put_value(c, *v);
    }
    if (c->reads && *v > most) {
        codec_fail(c, "`%s` is %llu; the largest value is %llu", name, (unsigned long long)*v,
                   (unsigned long long)most);
        *v = 0;
    }
}

void codec_number(struct codec *c, const char *name, uint64_t *v, uint64_t most)
{
    number(c, name, v, most, false);
}

void codec_set(struct codec *c, const char *name, uint64_t *v, uint64_t all)
{
    number(c, name, v, all, true);
}

void codec_address(struct codec *c, const char *name, uint64_t *v, uint64_t context)
{
    uint64_t *last = &c->last[context % CODEC_CONTEXTS];
    if (c->text) {
        number(c, name, v, UINT64_MAX, true);
        return;
    }
    uint64_t difference = zigzag(*v - *last);
    number(c, name, &difference, UINT64_MAX, true);
    if (c->reads)
        *v = *last + unzigzag(difference);
    *last = *v;
}

void codec_word(struct codec *c, const char *name, uint64_t *v, const char *const *words, unsigned n)
{
    if (!c->text) {
        number(c, name, v, n - 1, false);
        return;
    }
    if (!c->reads) {
        if (*v)
            put_text(c, " %s=%s", name, words[*v]);
        return;
    }
    struct codec_field *f = find_field(c, name);
    *v = 0;
    while (f && *v < n && !str_is(f->value, words[*v]))
        ++*v;
    if (*v == n) {
        codec_fail(c, "`%s=%.*s`: the value is not one of the words of this field", name, STR_ARG(f->value));
        *v = 0;
    }
}

static void add_number(struct codec *c, struct number_list *list, uint64_t v)
{
    if (c->n_numbers == CODEC_NUMBERS)
        codec_fail(c, "a list is too long");
    else {
        c->numbers[c->n_numbers++] = v;
        list->n++;
    }
}

void codec_list(struct codec *c, const char *name, struct number_list *list, bool addresses)
{
    if (c->text && !c->reads) {
        for (uint32_t i = 0; i < list->n; i++) {
            put_text(c, i ? "," : " ");
            if (!i)
                put_text(c, "%s=", name);
            put_text(c, addresses ? "0x%llx" : "%llu", (unsigned long long)list->at[i]);
        }
        return;
    }
    if (!c->reads) {
        uint64_t last = 0;
        if (!next_field(c, list->n))
            return;
        put_value(c, list->n);
        for (uint32_t i = 0; i < list->n; i++) {
            put_value(c, zigzag(list->at[i] - last));
            last = list->at[i];
        }
        return;
    }
    *list = (struct number_list){c->numbers + c->n_numbers, 0};
    if (c->text) {
        struct codec_field *f = find_field(c, name);
        struct str value = f ? f->value : (struct str){0};
        for (uint64_t v; f && !c->error[0];) {
            if (!take_number(&value, &v)) {
                codec_fail(c, "`%s=%.*s` is not a list of numbers", name, STR_ARG(f->value));
                return;
            }
            add_number(c, list, v);
            if (!value.n)
                return;
            value.p++;
            value.n--;
        }
    } else if (next_field(c, false)) {
        uint64_t n = take_leb(c), last = 0;
        for (uint64_t i = 0; i < n && !c->error[0]; i++)
            add_number(c, list, last += unzigzag(take_leb(c)));
    }
}

void codec_text(struct codec *c, const char *name, struct str *text)
{
    if (c->text && !c->reads) {
        if (text->n)
            put_quoted(c, name, *text);
        return;
    }
    if (!c->reads) {
        if (!next_field(c, text->n))
            return;
        put_value(c, text->n);
        PUT(c, values, text->p, text->n);
        return;
    }
    *text = (struct str){0};
    if (c->text) {
        struct codec_field *f = find_field(c, name);
        if (f)
            *text = f->value;
    } else if (next_field(c, false)) {
        uint64_t n = take_leb(c);
        if (n > c->in.n) {
            codec_fail(c, "a text is cut off");
            return;
        }
        *text = (struct str){c->in.p, n};
        c->in.p += n;
        c->in.n -= n;
    }
}
