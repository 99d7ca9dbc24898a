/* The command line of heddle cc, which is nvcc's: one dash or two, values joined by = or as the next word. */
#include <ctype.h>

#include "base/str.h"
#include "cli/cc.h"

enum kind { SWITCH, VALUE, LIST, LETTER };

struct flag {
    enum kind kind;
    const char *short_name, *long_name, *value, *help;
};

static const struct flag flags[] = {
#define CC(id, kind, short_name, long_name, value, help) {kind, short_name, long_name, value, help},
#include "cli/cc_flags.def"
#undef CC
};

/* What clang 19 compiles for (clang's --cuda-gpu-arch). */
static const char *const known_archs[] = {"50", "52", "53", "60", "61", "62", "70", "72",
                                          "75", "80", "86", "87", "89", "90", "90a"};
static const char default_arch[] = "75";   /* nvcc 13's own default */
static const char native_arch[] = "sm_90"; /* the device that Heddle claims to be: exec/device.def */

/* Options of nvcc that have nothing to act on here. */
static const char *const without_meaning[][2] = {
    {"Xptxas", "there is no ptxas: Heddle runs PTX"},
    {"ptxas-options", "there is no ptxas: Heddle runs PTX"},
    {"Xnvlink", "there is no nvlink: PTX is linked when the program starts"},
    {"nvlink-options", "there is no nvlink: PTX is linked when the program starts"},
    {"cubin", "Heddle makes no machine code; -ptx makes PTX, -fatbin a fat binary of it"},
    {"dlink", "device code is linked when the program starts; link the objects with `heddle cc` alone"},
    {"device-link", "device code is linked when the program starts; link the objects with `heddle cc` alone"},
    {"maxrregcount", "PTX has no limit of registers; __launch_bounds__ is honoured"},
    {"lib", "`ar rcs LIBRARY OBJECT...` makes a library of objects"},
    {"static", "the CUDA runtime of Heddle is a shared library"},
};

static bool same(const char *a, const char *b)
{
    return a && strcmp(a, b) == 0;
}

bool cc_is_true(const struct cc_options *o, enum cc_id id, bool otherwise)
{
    return o->given[id] ? same(o->value[id], "true") : otherwise;
}

/* The value of `argument` (without its dashes) as this option: NULL where it is not this option; "" for a switch; else the
 * value, from the next word where *take_next is set. */
static const char *match(const struct flag *f, const char *argument, bool two_dashes, const char *next, bool *take_next)
{
    bool letter = f->short_name && !f->short_name[1]; /* one dash */
    const char *names[] = {two_dashes && letter ? NULL : f->short_name, f->long_name};
    *take_next = false;
    for (int i = 0; i < 2; i++) {
        size_t n = names[i] ? strlen(names[i]) : 0;
        if (n == 0 || strncmp(argument, names[i], n) != 0)
            continue;
        if (f->kind == SWITCH) {
            if (!argument[n])
                return "";
        } else if (argument[n] == '=' && (n > 1 || f->kind == VALUE)) {
            return argument + n + 1;
        } else if (!argument[n]) {
            *take_next = true;
            return next;
        } else if (f->kind == LETTER && i == 0) {
            return argument + n;
        }
    }
    return NULL;
}

static const char *unknown_option(const char *argument, const char *name, struct arena *arena)
{
    unsigned least = 3;
    const char *near = NULL;
    for (size_t i = 0; i < sizeof without_meaning / sizeof without_meaning[0]; i++) {
        size_t n = strlen(without_meaning[i][0]);
        if (strncmp(name, without_meaning[i][0], n) == 0 && (!name[n] || name[n] == '='))
            return arena_printf(arena, "`%s`: %s", argument, without_meaning[i][1]);
    }
    for (size_t i = 0; i < CC_COUNT; i++) {
        const char *names[] = {flags[i].short_name, flags[i].long_name};
        for (int k = 0; k < 2; k++) {
            unsigned d =
                names[k] && names[k][1] ? str_distance((struct str){name, strcspn(name, "=")}, str_of(names[k]), 2) : 3;
            if (d < least) {
                least = d;
                near = names[k];
            }
        }
    }
    if (near)
        return arena_printf(arena, "there is no option `%s`; did you mean `-%s`?", argument, near);
    return arena_printf(arena, "there is no option `%s`; `heddle cc --help` lists them", argument);
}

static bool passes_through(const char *argument, struct cc_options *o, struct arena *arena)
{
    if (argument[1] == 'W' && argument[2] && strncmp(argument, "-Wl,", 4) != 0 && strncmp(argument, "-Wp,", 4) != 0) {
        *VEC_PUSH(arena, &o->both) = argument;
        return true;
    }
    if (argument[1] == 'f' || argument[1] == 'm' || argument[1] == 'W' || same(argument, "-pthread") ||
        same(argument, "-pedantic")) {
        *VEC_PUSH(arena, &o->host) = argument;
        return true;
    }
    return false;
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
    if (isdigit((unsigned char)number[0]) && strtoul(number, NULL, 10) > 90)
        return arena_printf(arena,
                            "clang 19 does not know `%.*s`; its newest are sm_90 and sm_90a, whose PTX runs on later "
                            "GPUs, too",
                            (int)n, word);
    return arena_printf(arena,
                        "there is no architecture `%.*s`; there are sm_50, sm_52, sm_53, sm_60, sm_61, sm_62, sm_70, "
                        "sm_72, sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a and native",
                        (int)n, word);
}

static const char *read_archs(struct cc_options *o, struct arena *arena)
{
    const char *error = NULL, *arch = o->value[CC_ARCH];
    if (arch && (same(arch, "all") || same(arch, "all-major")))
        return arena_printf(arena, "`-arch=%s`: name the architectures, by -arch or -gencode", arch);
    if (arch)
        error = add_arch(o, arch, strlen(arch), arena);
    for (uint32_t i = 0; i < o->list[CC_GENCODE].n && !error; i++) {
        const char *word = o->list[CC_GENCODE].at[i];
        if (strncmp(word, "arch=", 5) != 0)
            return arena_printf(arena, "`-gencode %s`: it is written like arch=compute_80,code=sm_80", word);
        error = add_arch(o, word + 5, strcspn(word + 5, ","), arena);
    }
    if (!error && o->archs.n == 0)
        *VEC_PUSH(arena, &o->archs) = default_arch;
    return error;
}

/* ---- all of it ---- */

/* Options whose values are few. */
static const char *check_values(const struct cc_options *o, struct arena *arena)
{
    static const struct {
        enum cc_id id;
        const char *first, *second, *third;
    } allowed[] = {
        {CC_RDC, "true", "false", NULL},      {CC_FTZ, "true", "false", NULL},
        {CC_PREC_DIV, "true", "false", NULL}, {CC_PREC_SQRT, "true", "false", NULL},
        {CC_FMAD, "true", "false", NULL},     {CC_DEFAULT_STREAM, "legacy", "per-thread", "null"},
        {CC_CUDART, "shared", "none", NULL},  {CC_LANGUAGE, "cu", "c", "c++"},
        {CC_WITH, "nvcc", "clang", NULL},
    };
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        const char *value = o->value[allowed[i].id];
        if (value && !same(value, allowed[i].first) && !same(value, allowed[i].second) &&
            !(allowed[i].third && same(value, allowed[i].third)))
            return arena_printf(arena, "`-%s=%s`: it is %s or %s%s%s", flags[allowed[i].id].long_name, value,
                                allowed[i].first, allowed[i].second, allowed[i].third ? " or " : "",
                                allowed[i].third ? allowed[i].third : "");
    }
    if (o->given[CC_PTX] + o->given[CC_FATBIN] + o->given[CC_PREPROCESS] +
            (o->given[CC_COMPILE] || o->given[CC_DEVICE_C]) >
        1)
        return "one of -c, -ptx, -fatbin and -E, not several";
    return NULL;
}

/* One argument, argv[*i]; *i moves on to the last word of it. */
static const char *read_argument(int argc, char **argv, int *i, struct cc_options *o, struct arena *arena)
{
    const char *argument = argv[*i];
    if (argument[0] != '-' || !argument[1]) {
        *VEC_PUSH(arena, &o->inputs) = argument;
        return NULL;
    }
    bool two = argument[1] == '-', take_next;
    const char *name = argument + 1 + two, *next = *i + 1 < argc ? argv[*i + 1] : NULL;
    for (int id = 0; id < CC_COUNT; id++) {
        const char *value = match(&flags[id], name, two, next, &take_next);
        if (!value && !take_next)
            continue;
        if (!value)
            return arena_printf(arena, "`%s` needs a value: %s", argument, flags[id].value);
        *i += take_next;
        o->given[id] = true;
        o->value[id] = value;
        if (flags[id].kind == LIST || flags[id].kind == LETTER)
            *VEC_PUSH(arena, &o->list[id]) = value;
        return NULL;
    }
    if (!two && same(argument, "-Werror") && next && same(next, "all-warnings"))
        ++*i;
    return !two && passes_through(argument, o, arena) ? NULL : unknown_option(argument, name, arena);
}

const char *cc_read_options(int argc, char **argv, struct cc_options *o, struct arena *arena)
{
    const char *error = NULL;
    for (int i = 0; i < argc && !error; i++)
        error = read_argument(argc, argv, &i, o, arena);
    if (error || o->given[CC_HELP])
        return error;
    o->rdc = o->given[CC_DEVICE_C] || cc_is_true(o, CC_RDC, false);
    error = check_values(o, arena);
    if (!error)
        error = read_archs(o, arena);
    if (!error && o->inputs.n == 0)
        error = "which file? As in `heddle cc kernel.cu -o program`";
    if (!error && o->given[CC_OUTPUT] && o->inputs.n > 1 &&
        (o->given[CC_PTX] || o->given[CC_FATBIN] || o->given[CC_COMPILE] || o->given[CC_DEVICE_C]))
        error = "-o names one file, and each input would make one";
    return error;
}

const char *cc_help(struct arena *arena)
{
    const char *text =
        "usage: heddle cc [OPTIONS] FILE...\n"
        "\n"
        "Compiles CUDA C++ with clang 19 and Heddle's own headers, and links it with Heddle's CUDA runtime: no CUDA\n"
        "toolkit is needed, and the program runs on this computer's CPU. Options are nvcc's.\n\nOptions:\n";
    for (int i = 0; i < CC_COUNT; i++) {
        const struct flag *f = &flags[i];
        bool both = f->short_name && f->long_name && strcmp(f->short_name, f->long_name) != 0;
        const char *names = !f->short_name ? arena_printf(arena, "--%s", f->long_name)
                            : both         ? arena_printf(arena, "-%s, --%s", f->short_name, f->long_name)
                                           : arena_printf(arena, "-%s", f->short_name);
        names = arena_printf(arena, "%s%s%s", names, f->kind == SWITCH ? "" : " ", f->value);
        text = arena_printf(arena, "%s  %-45s %s\n", text, names, f->help);
    }
    return arena_printf(
        arena,
        "%s\n-W... goes to the compiler of all code; -f..., -m... and -pthread to the compiler of host code.\n"
        "\n"
        "Examples:\n"
        "  heddle cc hello.cu -o hello && ./hello\n"
        "  heddle cc -ptx kernel.cu -o kernel.ptx && heddle launch kernel.ptx --grid 1 --block 32 'f32[32]'\n"
        "  heddle cc -rdc=true main.cu device.cu -o program\n"
        "\n"
        "The exit status is 0 after a success, 1 where the source has errors, 2 for wrong usage.\n",
        text);
}
