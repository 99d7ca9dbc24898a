/* See opts.h. */
#include "base/opts.h"

enum { HELP_WIDTH = 100, HELP_COLUMN_MAX = 26, FAR = 3 };

/* ---- values ---- */

bool opts_size(struct str text, uint64_t *size)
{
    static const char units[] = "KMGT";
    size_t i = 0;
    uint64_t v = 0;
    for (; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(text.p[i] - '0'), &v))
            return false;
    if (i == 0)
        return false;
    const char *unit = i < text.n ? memchr(units, text.p[i] & ~0x20, 4) : NULL;
    if (unit) {
        unsigned shift = 10u * (unsigned)(unit - units + 1);
        if (v > UINT64_MAX >> shift)
            return false;
        v <<= shift;
        struct str rest = {text.p + i + 1, text.n - i - 1};
        i = rest.n == 0 || str_is(rest, "B") || str_is(rest, "iB") ? text.n : i;
    }
    *size = v;
    return i == text.n;
}

/* Digits, with a fraction where there is one; what is left of the text stands in *text. */
static bool read_decimal(struct str *text, double *value)
{
    double unit = 1;
    bool is_fraction = false, digits = false;
    size_t i = 0;
    *value = 0;
    for (; i < text->n; i++) {
        char c = text->p[i];
        if (c == '.' && !is_fraction) {
            is_fraction = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        digits = true;
        unit = is_fraction ? unit / 10 : unit;
        *value = is_fraction ? *value + unit * (c - '0') : 10 * *value + (c - '0');
    }
    *text = (struct str){text->p + i, text->n - i};
    return digits;
}

bool opts_number(struct str text, uint64_t *number)
{
    size_t i = 0, fraction = 0, exponent = 0;
    uint64_t v = 0;
    bool is_fraction = false, digits = false;
    for (; i < text.n && (text.p[i] == '.' || (text.p[i] >= '0' && text.p[i] <= '9')); i++) {
        if (text.p[i] == '.' && is_fraction)
            return false;
        is_fraction |= text.p[i] == '.';
        if (text.p[i] == '.')
            continue;
        digits = true;
        fraction += is_fraction;
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(text.p[i] - '0'), &v))
            return false;
    }
    if (i < text.n && (text.p[i] | 0x20) == 'e') {
        i += 1 + (i + 1 < text.n && text.p[i + 1] == '+');
        size_t from = i;
        for (; i < text.n && text.p[i] >= '0' && text.p[i] <= '9' && exponent < 100; i++)
            exponent = 10 * exponent + (size_t)(text.p[i] - '0');
        digits &= i > from;
    }
    for (; exponent > fraction; exponent--)
        if (__builtin_mul_overflow(v, 10, &v))
            return false;
    for (; fraction > exponent; fraction--) {
        if (v % 10)
            return false;
        v /= 10;
    }
    *number = v;
    return digits && i == text.n;
}

bool opts_seconds(struct str text, double *seconds)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"min", 60}, {"m", 60}, {"s", 1}, {"h", 3600}, {"d", 86400}};
    bool ok = text.n > 0;
    *seconds = 0;
    while (ok && text.n) {
        double value, unit = 1;
        size_t n = 0;
        ok = read_decimal(&text, &value);
        for (size_t i = 0; i < sizeof units / sizeof units[0] && !n; i++) {
            size_t length = strlen(units[i].name);
            if (text.n >= length && memcmp(text.p, units[i].name, length) == 0) {
                n = length;
                unit = units[i].seconds;
            }
        }
        ok &= n > 0 || text.n == 0;
        text = (struct str){text.p + n, text.n - n};
        *seconds += value * unit;
    }
    return ok && *seconds >= 1e-3 && *seconds <= 1e9;
}

unsigned opts_dims(struct str text, uint64_t *dims, unsigned max)
{
    unsigned n = 0;
    for (;;) {
        size_t length = 0;
        while (length < text.n && text.p[length] != ',' && text.p[length] != 'x')
            length++;
        if (n == max || !opts_size((struct str){text.p, length}, &dims[n]) || dims[n] == 0)
            return 0;
        n++;
        if (length == text.n)
            return n;
        text = (struct str){text.p + length + 1, text.n - length - 1};
    }
}

static bool set_dims(uint32_t *field, struct str text)
{
    uint64_t dims[3] = {1, 1, 1};
    if (!opts_dims(text, dims, 3))
        return false;
    for (int i = 0; i < 3; i++) {
        if (dims[i] > UINT32_MAX)
            return false;
        field[i] = (uint32_t)dims[i];
    }
    return true;
}

/* What a value of the kind looks like. */
static const char *const wanted[] = {
    [OPT_YES_NO] = "yes or no",
    [OPT_NUMBER] = "a number of at least 1, such as 12 or 1e9",
    [OPT_COUNT] = "a number of at least 0, such as 12 or 1e9",
    [OPT_SIZE] = "a size, such as 4096, 64K or 2G",
    [OPT_SECONDS] = "a time of at least 0.001 seconds, such as 10, 0.5, 90s, 5m or 1h30m",
    [OPT_DIMS] = "one to three numbers of at least 1, such as 32 or 32,8 or 8x8x8",
};

static const char *set_value(const struct opt *o, void *field, const char *text, struct arena *arena)
{
    uint64_t number = 0;
    bool ok = true;
    switch (o->kind) {
    case OPT_SWITCH: *(bool *)field = true; break;
    case OPT_YES_NO:
        *(bool *)field = !text || strcmp(text, "yes") == 0;
        ok = !text || *(bool *)field || strcmp(text, "no") == 0;
        break;
    case OPT_TEXT: *(const char **)field = text; break;
    case OPT_COUNT:
        ok = opts_number(str_of(text), &number);
        *(struct opt_count *)field = (struct opt_count){ok, number};
        break;
    case OPT_SECONDS: ok = opts_seconds(str_of(text), field); break;
    case OPT_DIMS: ok = set_dims(field, str_of(text)); break;
    case OPT_NUMBER:
    case OPT_SIZE:
        ok = (o->kind == OPT_SIZE ? opts_size : opts_number)(str_of(text), &number) && number > 0;
        *(uint64_t *)field = number;
        break;
    case OPT_LIST: {
        struct opt_list *list = field;
        if (list->n == OPT_LIST_MAX)
            return arena_printf(arena, "`--%s` is given more than %d times", o->name, OPT_LIST_MAX);
        list->at[list->n++] = text;
        break;
    }
    }
    if (ok)
        return NULL;
    return arena_printf(arena, "`--%s %s`: the value must be %s", o->name, text, wanted[o->kind]);
}

/* ---- reading ---- */

static const struct opt *find(const struct opts *opts, uint32_t commands, struct str name)
{
    for (size_t i = 0; i < opts->n; i++) {
        const struct opt *o = &opts->at[i];
        bool letter = name.n == 1 && o->letter == name.p[0] && o->letter != '-';
        if (o->commands & commands && (letter || str_is(name, o->name)))
            return o;
    }
    return NULL;
}

static const char *unknown(const struct opts *opts, unsigned command, struct str word, struct arena *arena)
{
    struct str name = {word.p + strspn(word.p, "-"), word.n - strspn(word.p, "-")};
    const char *near = NULL;
    unsigned least = FAR + 1;
    for (size_t i = 0; i < opts->n_elsewhere; i++)
        if (opts->elsewhere[i].commands >> command & 1 && str_is(name, opts->elsewhere[i].name))
            return arena_printf(arena, "there is no option `%.*s`: %s", STR_ARG(word), opts->elsewhere[i].hint);
    for (size_t i = 0; i < opts->n; i++) {
        const struct opt *o = &opts->at[i];
        if (o->commands >> command & 1) {
            unsigned limit = name.n < 5 ? 2 : FAR, d = str_distance(name, str_of(o->name), limit);
            if (d <= limit && d < least) {
                least = d;
                near = o->name;
            }
        } else if (str_is(name, o->name)) {
            return arena_printf(arena, "`--%s` is an option of `heddle %s`, not of `heddle %s`", o->name,
                                opts->command_name((unsigned)__builtin_ctz(o->commands)), opts->command_name(command));
        }
    }
    if (near)
        return arena_printf(arena, "there is no option `%.*s`; did you mean `--%s`?", STR_ARG(word), near);
    return arena_printf(arena, "there is no option `%.*s`; `heddle %s --help` lists them", STR_ARG(word),
                        opts->command_name(command));
}

/* Is the word an option by its looks? "-" alone is a file, "-3", "-.5" and "-inf" are numbers. */
static bool looks_like_option(const char *word)
{
    if (word[0] != '-' || word[1] == 0)
        return false;
    if (word[1] == '-')
        return true;
    return !(word[1] >= '0' && word[1] <= '9') && word[1] != '.' && strncmp(word, "-inf", 4) != 0 &&
           strncmp(word, "-nan", 4) != 0;
}

struct reader {
    const struct opts *opts;
    unsigned command;
    int argc, at;
    char **argv;
    void *values;
    bool *given; /* options, by index in the table */
    struct arena *arena;
};

/* A word that looks like an option, in its parts. */
struct given {
    struct str whole, name; /* without its value; without its dashes */
    const char *text;       /* the value behind "=", or NULL */
    const struct opt *opt;  /* or NULL */
};

static struct given take_apart(const struct opts *opts, uint32_t commands, const char *word)
{
    struct given g = {0};
    const char *equals = word[1] == '-' ? strchr(word, '=') : NULL;
    size_t dashes = word[1] == '-' ? 2 : 1;
    g.whole = (struct str){word, equals ? (size_t)(equals - word) : strlen(word)};
    g.name = (struct str){g.whole.p + dashes, g.whole.n - dashes};
    g.text = equals ? equals + 1 : NULL;
    g.opt = g.name.n > 1 || dashes == 1 ? find(opts, commands, g.name) : NULL;
    if (g.opt && dashes == 1 && g.name.n > 1 && g.opt->letter != '-')
        g.opt = NULL;
    return g;
}

/* Is the next word the value of an option that may do without one? */
static bool is_yes_no(const struct opt *o, const char *next)
{
    return o->kind == OPT_YES_NO && next && (strcmp(next, "yes") == 0 || strcmp(next, "no") == 0);
}

static const char *read_option(struct reader *r)
{
    struct given g = take_apart(r->opts, 1u << r->command, r->argv[r->at]);
    const struct opt *o = g.opt;
    if (!o)
        return unknown(r->opts, r->command, g.whole, r->arena);
    bool *given = &r->given[o - r->opts->at];
    if (*given && o->kind != OPT_LIST)
        return arena_printf(r->arena, "`--%s` is given twice", o->name);
    *given = true;
    const char *text = g.text;
    if (o->kind == OPT_SWITCH && text)
        return arena_printf(r->arena, "`--%s` takes no value", o->name);
    if (!text && is_yes_no(o, r->at + 1 < r->argc ? r->argv[r->at + 1] : NULL))
        text = r->argv[++r->at];
    if (o->kind != OPT_SWITCH && o->kind != OPT_YES_NO && !text) {
        if (r->at + 1 == r->argc || looks_like_option(r->argv[r->at + 1]))
            return arena_printf(r->arena, "`--%s` needs a value: --%s %s", o->name, o->name, o->value);
        text = r->argv[++r->at];
    }
    return set_value(o, (char *)r->values + o->offset, text, r->arena);
}

/* Do options of the command go on behind a word? */
static bool options_go_on(const struct reader *r)
{
    if (!(r->opts->first_word_ends >> r->command & 1))
        return true;
    for (size_t i = 0; r->opts->runs_nothing && i < r->opts->n; i++)
        if (r->given[i] && strcmp(r->opts->at[i].name, r->opts->runs_nothing) == 0)
            return true;
    return false;
}

const char *opts_parse(const struct opts *opts, unsigned command, int argc, char **argv, void *values,
                       const char **words, int *n_words, struct arena *arena)
{
    struct reader r = {opts, command, argc, 1, argv, values, ARENA_ARRAY(arena, bool, opts->n), arena};
    bool only_words = false;
    *n_words = 0;
    for (; r.at < argc; r.at++) {
        const char *word = argv[r.at];
        if (only_words || !looks_like_option(word)) {
            words[(*n_words)++] = word;
            only_words |= !options_go_on(&r);
        } else if (strcmp(word, "--") == 0) {
            only_words = true;
        } else {
            const char *error = read_option(&r);
            if (error)
                return error;
        }
    }
    return NULL;
}

const char *opts_first_word(const struct opts *opts, uint32_t commands, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i + 1 < argc ? argv[i + 1] : NULL;
        if (!looks_like_option(argv[i]))
            return argv[i];
        struct given g = take_apart(opts, commands, argv[i]);
        bool takes = g.opt && !g.text && g.opt->kind != OPT_SWITCH && g.opt->kind != OPT_YES_NO;
        i += takes || (g.opt && !g.text && is_yes_no(g.opt, i + 1 < argc ? argv[i + 1] : NULL));
    }
    return NULL;
}

/* ---- help ---- */

opt_lines opts_lines(const struct opts *opts, unsigned command, struct arena *arena)
{
    opt_lines lines = {0};
    for (size_t i = 0; i < opts->n; i++) {
        const struct opt *o = &opts->at[i];
        if (o->commands >> command & 1)
            *VEC_PUSH(arena, &lines) = (struct opt_line){
                .short_name = o->letter == '-' ? arena_printf(arena, "-%s", o->name)
                              : o->letter      ? arena_printf(arena, "-%c", o->letter)
                                               : NULL,
                .long_name = arena_printf(arena, "--%s", o->name),
                .value = o->value,
                .help = o->help,
            };
    }
    return lines;
}

static const char *head_of(const struct opt_line *l, struct arena *arena)
{
    bool both = l->short_name && l->long_name;
    return arena_printf(arena, "  %s%s%s%s%s", l->short_name ? l->short_name : "", both ? ", " : "",
                        l->long_name ? l->long_name : "", *l->value ? " " : "", l->value);
}

/* `text` broken into lines that stand from `column` on. */
static const char *wrap(const char *text, size_t column, struct arena *arena)
{
    const char *out = "";
    while (strlen(text) > HELP_WIDTH - column) {
        size_t n = HELP_WIDTH - column;
        while (n > 0 && text[n] != ' ')
            n--;
        out = arena_printf(arena, "%s%.*s\n%*s", out, (int)n, text, (int)column, "");
        text += n + 1;
    }
    return arena_printf(arena, "%s%s\n", out, text);
}

const char *opt_lines_help(const opt_lines *lines, struct arena *arena)
{
    size_t column = 0;
    for (uint32_t i = 0; i < lines->n; i++) {
        size_t n = strlen(head_of(&lines->at[i], arena)) + 2;
        column = n > column && n <= HELP_COLUMN_MAX ? n : column;
    }
    const char *out = "";
    for (uint32_t i = 0; i < lines->n; i++) {
        const char *head = head_of(&lines->at[i], arena), *gap = strlen(head) + 2 > column ? "\n" : "";
        int pad = (int)(*gap ? column : column - strlen(head));
        out = arena_printf(arena, "%s%s%s%*s%s", out, head, gap, pad, "", wrap(lines->at[i].help, column, arena));
    }
    return out;
}
