/* Operand lists of ops.def in the words of the PTX ISA; see isa.h. */
#include "isa/isa.h"

struct text {
    char *at;
    size_t n, left;
};

static void put(struct text *t, const char *s)
{
    size_t n = strlen(s);
    if (n >= t->left)
        return;
    memcpy(t->at + t->n, s, n + 1);
    t->n += n;
    t->left -= n;
}

/* Operand lists with rules of their own. */
static const char *list_text(struct str word)
{
    static const char *const lists[][2] = {
        {"CALL", "(d), function, (a), prototype"},
        {"MOV", "d, a"},
        {"BRANCHTARGETS", "targets"},
        {"SRCSIZE", "size or !p"},
        {"D", "{d...}"},
        {"A", "{a...}"},
        {"B", "{b...}"},
        {"C", "{c...}"},
        {"M", "[address]"},
        {"STRIDE", "stride"},
        {"METADATA", "metadata"},
        {"SELECTOR", "selector"},
        {"WGMMA", "scale-d{, scale-a, scale-b{, trans-a, trans-b}}"},
        {"TENSOR", "[map, {coordinates}]"},
        {"IM2COL", "{offsets}"},
        {"TEXEL", "{d...}"},
        {"TEXTURE", "[texture{, sampler}, {coordinates}]"},
        {"SURFACE", "[surface, {coordinates}]"},
        {"REFERENCE", "[a]"},
        {"VALUES", "{values}"},
        {"LOD", "lod or {dPdx}, {dPdy}"},
        {"OFFSET", "{offsets}"},
        {"COMPARE", "depth"},
    };
    word.n -= word.p[word.n - 1] == '?';
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (str_is(word, lists[i][0]))
            return lists[i][1];
    return "a";
}

/* One operand of ops.def ("d|p", "s:u32?", "m") as the PTX ISA would write it. Sources are a, b, c
 * in order.
 */
static void put_operand(struct text *t, struct str word, char *next_source)
{
    char source[2] = {*next_source, 0};
    bool list = word.p[0] >= 'A' && word.p[0] <= 'Z';
    bool braces = word.p[word.n - 1] == '?' && t->n > 0;
    if (t->n)
        put(t, braces ? "{, " : ", ");
    if (list) {
        put(t, list_text(word));
    } else if (word.p[0] == 'd') {
        put(t, word.n > 1 && word.p[1] == 'p' ? "p" : "d");
        if (memchr(word.p, '|', word.n))
            put(t, "|p");
    } else if (word.p[0] == 'l') {
        put(t, "label");
    } else {
        put(t, word.p[0] == 'm' ? "[" : "");
        put(t, source);
        put(t, word.p[0] == 'm' ? "]" : "");
        ++*next_source;
    }
    put(t, braces ? "}" : "");
}

void isa_operands_text(char *to, size_t n, const char *operands)
{
    struct text t = {to, 0, n};
    char next_source = 'a';
    *to = 0;
    if (*operands == '*')
        put(&t, "...");
    while (*operands && *operands != '*') {
        size_t length = strcspn(operands, " ");
        put_operand(&t, (struct str){operands, length}, &next_source);
        operands += length + strspn(operands + length, " ");
    }
}
