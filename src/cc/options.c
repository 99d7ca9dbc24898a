/* The command line of heddle cc, which is nvcc's: one dash or two, values joined by = or as the
 * next word. */
#include <stdlib.h>
#include <limits.h>
#include <ctype.h>

#include "base/str.h"
#include "cc/cc.h"
#include "files/file.h"

enum kind { SWITCH, VALUE, LIST, LETTER, UNUSED, UNUSED_VALUE, UNUSED_LETTER, REFUSED, KINDS };

struct flag {
    enum kind kind;
    const char *short_name, *long_name, *value, *help;
};

static const struct flag flags[] = {
#define CC(id, kind, short_name, long_name, value, help) {kind, short_name, long_name, value, help},
#include "cc/flags.def"
#undef CC
};

/* What clang 19 compiles for (clang's --cuda-gpu-arch). */
static const char *const known_archs[] = {"50", "52", "53", "60", "61", "62", "70", "72",
                                          "75", "80", "86", "87", "89", "90", "90a"};
enum { FIRST_OF_ALL = 8 };               /* what came before sm_75 nvcc 13 knows no more */
static const char default_arch[] = "75"; /* nvcc 13's own default */
/* The device that Heddle claims to be: exec/device.def. */
static const char native_arch[] = "sm_90";

static bool same(const char *a, const char *b)
{
    return a && strcmp(a, b) == 0;
}

bool cc_is_true(const struct cc_options *o, enum cc_id id, bool otherwise)
{
    return o->given[id] ? same(o->value[id], "true") : otherwise;
}

static bool stands_alone(enum kind kind)
{
    return kind == SWITCH || kind == UNUSED || kind == REFUSED;
}

/* The value of `argument` (without its dashes) as this option: NULL where it is not this option; ""
 * for a switch; else the value, from the next word where *take_next is set. `joined`: where it
 * follows a letter. */
static const char *match(const struct flag *f, const char *argument, bool two_dashes, bool joined, const char *next,
                         bool *take_next)
{
    bool letter = f->short_name && !f->short_name[1]; /* one dash */
    const char *names[] = {two_dashes && letter ? NULL : f->short_name, f->long_name};
    *take_next = false;
    for (int i = 0; i < 2; i++) {
        size_t n = names[i] ? strlen(names[i]) : 0;
        if (n == 0 || strncmp(argument, names[i], n) != 0)
            continue;
        if (stands_alone(f->kind)) {
            if (!argument[n])
                return "";
        } else if (argument[n] == '=' && (n > 1 || (f->kind != LETTER && f->kind != UNUSED_LETTER))) {
            return argument + n + 1;
        } else if (!argument[n]) {
            *take_next = true;
            return next;
        } else if (f->kind == LETTER && i == 0 && joined) {
            return argument + n;
        } else if (f->kind == UNUSED_LETTER && i == 0 && joined &&
                   (isdigit((unsigned char)argument[n]) || argument[n] == '=')) {
            return argument + n;
        }
    }
    return NULL;
}

void cc_split(const char *text, const char *separators, cc_words *words, struct arena *arena)
{
    while (*(text += strspn(text, separators))) {
        char *word = arena_alloc(arena, strlen(text) + 1), *to = word, quote = 0;
        for (; *text && (quote || !strchr(separators, *text)); text++) {
            if (*text == '\\' && quote != '\'' && text[1])
                *to++ = *++text;
            else if (*text == quote)
                quote = 0;
            else if (!quote && (*text == '"' || *text == '\''))
                quote = *text;
            else
                *to++ = *text;
        }
        *to = 0;
        *VEC_PUSH(arena, words) = word;
    }
}

static const char *unknown_option(const char *argument, const char *name, struct arena *arena)
{
    unsigned least = 3;
    const char *near = NULL;
    for (size_t i = 0; i < CC_COUNT; i++) {
        const char *names[] = {flags[i].short_name, flags[i].long_name};
        for (int k = 0; k < 2; k++) {
            unsigned d =
                names[k] && names[k][1] ? str_distance((struct str){name, strcspn(name, "=")}, str_of(names[k]), 2) : 3;
            if (d < least) {
                least = d;
                near = arena_printf(arena, k ? "--%s" : "-%s", names[k]);
            }
        }
    }
    if (near)
        return arena_printf(arena, "there is no option `%s`; did you mean `%s`?", argument, near);
    return arena_printf(arena, "there is no option `%s`; `heddle cc --help` lists them", argument);
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The host compiler's own options are taken as they are, others where they are to be forwarded. */
static bool passes_through(const char *argument, struct cc_options *o, struct arena *arena)
{
    bool is_linkers = starts(argument, "-Wl,"), is_preprocessors = starts(argument, "-Wp,");
    bool forwards = o->given[CC_FORWARD_COMPILER] || o->given[CC_FORWARD_LINKER] || o->given[CC_FORWARD_ALL];
    if (is_linkers || (forwards && same(argument, "-rdynamic"))) {
        *VEC_PUSH(arena, &o->link) = argument;
        return true;
    }
    if (argument[1] == 'W' && argument[2] && !is_preprocessors) {
        *VEC_PUSH(arena, &o->both) = argument;
        return true;
    }
    if (argument[1] == 'f' || argument[1] == 'm' || argument[1] == 'W' || same(argument, "-pthread") ||
        same(argument, "-pedantic") || forwards) {
        *VEC_PUSH(arena, &o->host) = argument;
        return true;
    }
    return false;
}

/* -Werror, whose kinds may follow as another word: of them, clang knows all-warnings. */
static bool read_werror(const char *name, const char *next, int *i, struct cc_options *o, struct arena *arena)
{
    static const char *const kinds[] = {
        "all-warnings",          "cross-execution-space-call", "deprecated-declarations", "reorder",
        "default-stream-launch", "missing-launch-bounds",      "ext-lambda-captures-this"};
    const char *value = starts(name, "Werror=") ? name + 7 : next;
    bool is_kind = false;
    if (!starts(name, "Werror") || (name[6] && name[6] != '='))
        return false;
    for (size_t k = 0; value && k < sizeof kinds / sizeof kinds[0]; k++)
        is_kind = is_kind || (starts(value, kinds[k]) && strchr(",", value[strlen(kinds[k])]));
    if (!is_kind && name[6])
        return false; /* clang's own -Werror=NAME */
    if (is_kind && !name[6])
        ++*i;
    if (!is_kind || strstr(value, "all-warnings"))
        *VEC_PUSH(arena, &o->both) = "-Werror";
    if (is_kind && strstr(value, "reorder"))
        *VEC_PUSH(arena, &o->both) = "-Werror=reorder";
    if (is_kind && strstr(value, "deprecated-declarations"))
        *VEC_PUSH(arena, &o->both) = "-Werror=deprecated-declarations";
    return true;
}

/* ---- architectures ---- */

static const char *add_arch(struct cc_options *o, const char *word, size_t n, struct arena *arena)
{
    if (n == 6 && strncmp(word, "native", 6) == 0)
        return add_arch(o, native_arch, sizeof native_arch - 1, arena);
    size_t skip = n > 3 && strncmp(word, "sm_", 3) == 0 ? 3 : n > 8 && strncmp(word, "compute_", 8) == 0 ? 8 : n;
    const char *number = arena_strndup(arena, word + skip, n - skip);
    for (uint32_t i = 0; i < o->archs.n; i++)
        if (same(number, o->archs.at[i]))
            return NULL;
    for (size_t i = 0; i < sizeof known_archs / sizeof known_archs[0]; i++)
        if (same(number, known_archs[i])) {
            *VEC_PUSH(arena, &o->archs) = number;
            return NULL;
        }
    if (isdigit((unsigned char)number[0]) && strtoul(number, NULL, 10) >= 20) { /* CMake's lists */
        *VEC_PUSH(arena, &o->unknown_archs) = arena_strndup(arena, word, n);
        return NULL;
    }
    return arena_printf(arena,
                        "there is no architecture `%.*s`; there are sm_50, sm_52, sm_53, sm_60, sm_61, sm_62, sm_70, "
                        "sm_72, sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a and native",
                        (int)n, word);
}

/* All that nvcc 13 knows, too; or of each generation the first. */
static void add_all_archs(struct cc_options *o, bool major, struct arena *arena)
{
    for (size_t i = FIRST_OF_ALL; i < sizeof known_archs / sizeof known_archs[0]; i++) {
        size_t n = strlen(known_archs[i]);
        bool is_first = i == FIRST_OF_ALL || known_archs[i][n - 1] == '0';
        if (isdigit((unsigned char)known_archs[i][n - 1]) && (!major || is_first))
            *VEC_PUSH(arena, &o->archs) = known_archs[i];
    }
}

/* "arch=compute_80,code=[sm_80,compute_80]": PTX for the virtual
 * architecture is all that is made. */
static const char *add_gencode(struct cc_options *o, const char *word, struct arena *arena)
{
    const char *arch = strstr(word, "arch=");
    if (!arch || (arch != word && arch[-1] != ','))
        return arena_printf(arena, "`-gencode %s`: write it like arch=compute_80,code=sm_80", word);
    arch += 5 + (arch[5] == '[' || arch[5] == '"');
    return add_arch(o, arch, strcspn(arch, ",]\""), arena);
}

static const char *read_archs(struct cc_options *o, struct arena *arena)
{
    const char *error = NULL, *arch = o->value[CC_ARCH];
    if (arch && (same(arch, "all") || same(arch, "all-major")))
        add_all_archs(o, same(arch, "all-major"), arena);
    else if (arch)
        error = add_arch(o, arch, strlen(arch), arena);
    for (uint32_t i = 0; i < o->list[CC_GENCODE].n && !error; i++)
        error = add_gencode(o, o->list[CC_GENCODE].at[i], arena);
    if (!error && o->archs.n == 0 && o->unknown_archs.n > 0)
        return arena_printf(arena,
                            "clang 19 does not know `%s`: it knows sm_50 to sm_90 and sm_90a, whose PTX runs on later "
                            "GPUs, too",
                            o->unknown_archs.at[0]);
    if (!error && o->archs.n == 0)
        *VEC_PUSH(arena, &o->archs) = default_arch;
    return error;
}

const char *cc_list_archs(const char *prefix, struct arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < sizeof known_archs / sizeof known_archs[0]; i++)
        text = arena_printf(arena, "%s%s%s\n", text, prefix, known_archs[i]);
    return text;
}

const char *cc_arch_list(const struct cc_options *o, struct arena *arena)
{
    const cc_words *all[] = {&o->archs, &o->unknown_archs};
    const char *list = "";
    for (int before = 0, next;; before = next) {
        next = INT_MAX;
        for (int k = 0; k < 2; k++)
            for (uint32_t i = 0; i < all[k]->n; i++) {
                const char *name = all[k]->at[i];
                int number = atoi(name + strcspn(name, "0123456789"));
                next = number > before && number < next ? number : next;
            }
        if (next == INT_MAX)
            return list;
        list = arena_printf(arena, "%s%s%d0", list, *list ? "," : "", next);
    }
}

bool cc_defines(const struct cc_options *o, const char *macro)
{
    size_t n = strlen(macro);
    for (uint32_t i = 0; i < o->list[CC_DEFINE].n; i++)
        if (strcspn(o->list[CC_DEFINE].at[i], "=") == n && strncmp(o->list[CC_DEFINE].at[i], macro, n) == 0)
            return true;
    return false;
}

bool cc_has_own_streams(const struct cc_options *o)
{
    return (o->given[CC_DEFAULT_STREAM] && strcmp(o->value[CC_DEFAULT_STREAM], "per-thread") == 0) ||
           cc_defines(o, "CUDA_API_PER_THREAD_DEFAULT_STREAM");
}

/* ---- all of it ---- */

/* Options whose values are few. */
static const char *check_values(const struct cc_options *o, struct arena *arena)
{
    static const struct {
        enum cc_id id;
        const char *first, *second, *third;
    } allowed[] = {
        {CC_RDC, "true", "false", NULL},         {CC_FTZ, "true", "false", NULL},
        {CC_PREC_DIV, "true", "false", NULL},    {CC_PREC_SQRT, "true", "false", NULL},
        {CC_FMAD, "true", "false", NULL},        {CC_DEFAULT_STREAM, "legacy", "per-thread", "null"},
        {CC_CUDART, "shared", "static", "none"}, {CC_LANGUAGE, "cu", "c", "c++"},
        {CC_WITH, "nvcc", "clang", NULL},        {CC_MACHINE, "64", "64", NULL},
        {CC_DEVICE_OPTIMIZE, "on", "on", NULL},
    };
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        const char *value = o->value[allowed[i].id];
        if (value && !same(value, allowed[i].first) && !same(value, allowed[i].second) &&
            !(allowed[i].third && same(value, allowed[i].third)))
            return arena_printf(arena, "`-%s=%s`: it is %s or %s%s%s", flags[allowed[i].id].long_name, value,
                                allowed[i].first, allowed[i].second, allowed[i].third ? " or " : "",
                                allowed[i].third ? allowed[i].third : "");
    }
    const enum cc_id goals[] = {
        CC_PTX,         CC_CUBIN, CC_FATBIN, CC_PREPROCESS, CC_DEPENDENCIES, CC_DEPENDENCIES_OWN,
        CC_DEVICE_LINK, CC_LIB,   CC_LINK,   CC_RUN};
    int n = o->given[CC_COMPILE] || o->given[CC_DEVICE_C] || o->given[CC_DEVICE_W];
    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; i++)
        n += o->given[goals[i]];
    if (n > 1)
        return "only one of -c, -ptx, -cubin, -fatbin, -E, -M, -MM, -dlink, -lib, -link and -run is possible";
    if (o->given[CC_REGISTERS] &&
        !(atoi(o->value[CC_REGISTERS]) >= 0 && isdigit((unsigned char)*o->value[CC_REGISTERS])))
        return arena_printf(arena, "`-maxrregcount=%s`: the value must be a number", o->value[CC_REGISTERS]);
    return NULL;
}

/* One argument, argv[*i]; *i moves on to the last word of it. */
static const char *read_argument(int argc, char **argv, int *i, struct cc_options *o, struct arena *arena)
{
    const char *argument = argv[*i];
    if (argument[0] != '-' || !argument[1]) {
        size_t n = strlen(argument);
        /* Meson's, and nvcc takes them. */
        bool quoted = n > 2 && argument[0] == '"' && argument[n - 1] == '"';
        *VEC_PUSH(arena, &o->inputs) = quoted ? arena_strndup(arena, argument + 1, n - 2) : argument;
        return NULL;
    }
    bool two = argument[1] == '-', take_next;
    const char *name = argument + 1 + two, *next = *i + 1 < argc ? argv[*i + 1] : NULL;
    if (read_werror(name, next, i, o, arena))
        return NULL;
    /* -lib is no library `ib`: whole names come first. */
    for (int turn = 0; turn < 2 * CC_COUNT; turn++) {
        int id = turn % CC_COUNT;
        const char *value = match(&flags[id], name, two, turn >= CC_COUNT, next, &take_next);
        if (!value && !take_next)
            continue;
        if (id == CC_OPTIMIZE && take_next && !(value && isdigit((unsigned char)*value))) {
            value = "1"; /* -O alone, as host compilers know it */
            take_next = false;
        }
        if (!value)
            return arena_printf(arena, "`%s` needs a value: %s", argument, flags[id].value);
        if (flags[id].kind == REFUSED)
            return arena_printf(arena, "`%s`: %s", argument, flags[id].help);
        *i += take_next;
        o->given[id] = true;
        o->value[id] = value;
        if (flags[id].kind == LIST || flags[id].kind == LETTER)
            *VEC_PUSH(arena, &o->list[id]) = value;
        return NULL;
    }
    return (!two || o->given[CC_FORWARD_COMPILER] || o->given[CC_FORWARD_ALL]) && passes_through(argument, o, arena)
               ? NULL
               : unknown_option(argument, name, arena);
}

/* ---- options in files and in the environment ---- */

enum { MOST_NESTED = 16 };

static const char *expand(const cc_words *words, cc_words *to, int depth, struct arena *arena);

static const char *expand_text(const char *text, cc_words *to, int depth, struct arena *arena)
{
    cc_words words = {0};
    cc_split(text, " \t\r\n", &words, arena);
    return expand(&words, to, depth, arena);
}

static const char *expand_file(const char *path, cc_words *to, int depth, struct arena *arena)
{
    struct file_bytes file;
    const char *error = depth == MOST_NESTED ? arena_printf(arena, "%s: files of options include each other", path)
                                             : file_read(arena, path, 0, &file);
    if (error)
        return error;
    error = expand_text(file.bytes, to, depth + 1, arena);
    free(file.bytes);
    return error;
}

/* The words with those of --options-file in its place. */
static const char *expand(const cc_words *words, cc_words *to, int depth, struct arena *arena)
{
    const char *error = NULL;
    for (uint32_t i = 0; i < words->n && !error; i++) {
        const char *word = words->at[i], *next = i + 1 < words->n ? words->at[i + 1] : NULL;
        bool two = starts(word, "--"), take_next;
        const char *value =
            *word == '-' ? match(&flags[CC_OPTIONS_FILE], word + 1 + two, two, false, next, &take_next) : NULL;
        cc_words paths = {0};
        if (!value) {
            *VEC_PUSH(arena, to) = word;
            continue;
        }
        i += take_next;
        cc_split(value, ",", &paths, arena);
        for (uint32_t k = 0; k < paths.n && !error; k++)
            error = expand_file(paths.at[k], to, depth, arena);
    }
    return error;
}

/* All words of the command line, with those of nvcc's environment variables. */
static const char *all_words(int argc, char **argv, cc_words *to, struct arena *arena)
{
    const char *before = getenv("NVCC_PREPEND_FLAGS"), *behind = getenv("NVCC_APPEND_FLAGS");
    cc_words words = {0};
    for (int i = 0; i < argc; i++)
        *VEC_PUSH(arena, &words) = argv[i];
    const char *error = before ? expand_text(before, to, 0, arena) : NULL;
    if (!error)
        error = expand(&words, to, 0, arena);
    return !error && behind ? expand_text(behind, to, 0, arena) : error;
}

const char *cc_read_options(int argc, char **argv, struct cc_options *o, struct arena *arena)
{
    cc_words words = {0};
    const char *error = all_words(argc, argv, &words, arena);
    for (uint32_t i = 0; i < words.n && !error; i++) /* it holds for what stands before it, too */
        o->given[CC_FORWARD_COMPILER] |= starts(words.at[i] + starts(words.at[i], "--"), "-forward-unknown-");
    for (int i = 0; i < (int)words.n && !error; i++)
        error = read_argument((int)words.n, (char **)words.at, &i, o, arena);
    if (error || o->given[CC_HELP])
        return error;
    o->rdc = o->given[CC_DEVICE_C] || (cc_is_true(o, CC_RDC, false) && !o->given[CC_DEVICE_W]);
    o->given[CC_KEEP] |= o->given[CC_SAVE_TEMPS];
    error = check_values(o, arena);
    if (!error)
        error = read_archs(o, arena);
    bool answers =
        o->given[CC_VERSION] || o->given[CC_LIST_ARCHS] || o->given[CC_LIST_CODES] || o->given[CC_INSTALL_TOOLS];
    if (!error && o->inputs.n == 0 && !answers)
        error = "the file is missing, for example: heddle cc kernel.cu -o program";
    if (!error && o->given[CC_OUTPUT] && o->inputs.n > 1 &&
        (o->given[CC_PTX] || o->given[CC_CUBIN] || o->given[CC_FATBIN] || o->given[CC_COMPILE] ||
         o->given[CC_DEVICE_C] || o->given[CC_DEVICE_W]))
        error = "-o names one file, but each input makes a file of its own";
    return error;
}

/* The flags of the kinds from `first` to the one before `end`. */
static opt_lines lines_of(enum kind first, enum kind end, struct arena *arena)
{
    opt_lines lines = {0};
    for (int i = 0; i < CC_COUNT; i++) {
        const struct flag *f = &flags[i];
        bool once = same(f->long_name, f->short_name ? f->short_name : "");
        if (f->kind >= first && f->kind < end)
            *VEC_PUSH(arena, &lines) = (struct opt_line){
                .short_name = f->short_name ? arena_printf(arena, "-%s", f->short_name) : NULL,
                .long_name = f->long_name && !once ? arena_printf(arena, "--%s", f->long_name) : NULL,
                .value = f->value,
                .help = f->help,
            };
    }
    return lines;
}

static const char *help_of(enum kind first, enum kind end, struct arena *arena)
{
    opt_lines lines = lines_of(first, end, arena);
    return opt_lines_help(&lines, arena);
}

opt_lines cc_option_lines(struct arena *arena)
{
    return lines_of(SWITCH, UNUSED, arena);
}

const char *cc_help(const char *usage, const char *details, struct arena *arena)
{
    return arena_printf(
        arena, "usage: %s\nOptions:\n%s\nAccepted without effect, because:\n%s\nRefused, because:\n%s\n%s", usage,
        help_of(SWITCH, UNUSED, arena), help_of(UNUSED, REFUSED, arena), help_of(REFUSED, KINDS, arena), details);
}
