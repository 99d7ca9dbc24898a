/* See printable.h. */
#include "base/printable.h"

unsigned utf8_decode(const char *text, size_t n, uint32_t *code)
{
    const unsigned char *p = (const unsigned char *)text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned length = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    if (length == 0 || length > n)
        return 0;
    *code = length == 1 ? p[0] : p[0] & (0x7fu >> length);
    for (unsigned i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (p[i] & 0x3f);
    }
    bool surrogate = *code >= 0xd800 && *code < 0xe000;
    return *code < least[length] || *code > 0x10ffff || surrogate ? 0 : length;
}

/* Unicode's controls, what turns the direction of text (Unicode Standard Annex 9, "Explicit
 * Directional Formatting Characters"), and what ends lines or cannot be seen. */
static bool is_plain(uint32_t code)
{
    if (code == '\t')
        return true;
    if (code < 0x20 || (code >= 0x7f && code < 0xa0))
        return false;
    bool format = code == 0xad || code == 0x61c || code == 0x180e || (code >= 0x200b && code <= 0x200f) ||
                  (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
                  (code >= 0xfff9 && code <= 0xfffb) || (code >= 0xe0000 && code <= 0xe0fff);
    return !format;
}

size_t printable_put(struct text *t, struct str s)
{
    size_t columns = 0, run = 0; /* run: plain bytes before `i` that are not put yet */
    for (size_t i = 0; i < s.n;) {
        uint32_t code;
        unsigned length = utf8_decode(s.p + i, s.n - i, &code);
        if (length && is_plain(code)) {
            i += length;
            run += length;
            columns++;
            continue;
        }
        text_put(t, s.p + i - run, run);
        size_t before = t->n;
        run = 0;
        if (length > 1)
            text_printf(t, "\\u%04x", code);
        else
            text_printf(t, "\\x%02x", (unsigned char)s.p[i]);
        columns += t->n - before;
        i += length ? length : 1;
    }
    text_put(t, s.p + s.n - run, run);
    return columns;
}

const char *printable(struct arena *arena, struct str s)
{
    struct text t = {.arena = arena};
    printable_put(&t, s);
    text_put(&t, "", 0); /* ended, if it is empty */
    return t.p;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Away from the middle of a character of UTF-8. */
static size_t to_start(const char *p, size_t at, size_t least)
{
    size_t i = at;
    while (i > least && at - i < 3 && ((unsigned char)p[i] & 0xc0) == 0x80)
        i--;
    return i;
}

const char *printable_excerpt(struct arena *arena, struct str s, bool lines)
{
    struct text t = {.arena = arena};
    text_put(&t, "", 0);
    for (size_t i = 0, end; i < s.n; i = end) {
        for (end = i; end < s.n && is_space(s.p[end]) == is_space(s.p[i]) && (end == i || s.p[end] != '\n');)
            end++;
        const char *word = s.p + i;
        size_t n = end - i;
        if (lines && *word == '\n') {
            text_puts(&t, "\n");
            end = i + 1;
        } else if (n > EXCERPT_WORD_BYTES) {
            size_t head = to_start(word, EXCERPT_WORD_BYTES / 2, 0),
                   tail = to_start(word, n - EXCERPT_WORD_BYTES / 4, head);
            printable_put(&t, (struct str){word, head});
            text_puts(&t, "...");
            printable_put(&t, (struct str){word + tail, n - tail});
        } else {
            printable_put(&t, (struct str){word, n});
        }
        if (t.n > EXCERPT_BYTES) {
            text_puts(&t, " ...");
            break;
        }
    }
    return t.p;
}
