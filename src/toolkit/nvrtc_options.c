/* See nvrtc.h. */
#include <stdlib.h>
#include <string.h>

#include "toolkit/nvrtc.h"

enum kind { SWITCH, VALUE, LETTER };
enum use {
    PASSED,
    UNUSED,
    REFUSED,
    WARNING,
    ARCH,
    DEVICE_C,
    STD,
    DEFAULT_DEVICE,
    NO_SOURCE_INCLUDE,
    SYNTAX_ONLY,
};

static const struct option {
    const char *short_name, *long_name;
    enum kind kind;
    enum use use;
    const char *words;
} options[] = {
#define OPTION(short_name, long_name, kind, use, words) {short_name, long_name, kind, use, words},
#include "toolkit/nvrtc_options.def"
};

/* The default is the oldest of CUDA 13's, and CUDA 12's own. clang 19's newest is sm_90, whose PTX
 * later devices run, too. */
enum { DEFAULT_ARCH = NVRTC_MAJOR == 12 ? 52 : 75, NEWEST_ARCH = 90 };
static const unsigned archs[] = {
#if NVRTC_MAJOR == 12
    50, 52, 53, 60, 61, 62, 70,  72,
#endif
    75, 80, 86, 87, 89, 90, 100, 103, 120, 121,
};

const unsigned *nvrtc_archs(size_t *n)
{
    *n = sizeof archs / sizeof archs[0];
    return archs;
}

/* An option of this name, with one dash or two; *value becomes what follows in the same word, or
 * NULL. */
static bool matches(const struct option *o, const char *word, const char **value)
{
    const char *name = word + 1 + (word[1] == '-');
    size_t short_bytes = strlen(o->short_name), long_bytes = strlen(o->long_name);
    *value = NULL;
    if (strcmp(name, o->short_name) == 0 || strcmp(name, o->long_name) == 0)
        return true;
    size_t n = strncmp(name, o->long_name, long_bytes) == 0 && name[long_bytes] == '='      ? long_bytes + 1
               : strncmp(name, o->short_name, short_bytes) == 0 && name[short_bytes] == '=' ? short_bytes + 1
               : o->kind == LETTER && word[1] == o->short_name[0]                           ? short_bytes
                                                                                            : 0;
    while (n && o->kind == LETTER && name[n] == ' ')
        n++;
    *value = n ? name + n : NULL;
    return n;
}

static const char *read_arch(nvrtcProgram p, const char *value, struct nvrtc_options *o)
{
    static const char *const kinds[] = {"compute_", "sm_"};
    for (size_t real = 0; real < 2; real++) {
        size_t n = strlen(kinds[real]);
        char *end;
        unsigned long arch = strncmp(value, kinds[real], n) == 0 ? strtoul(value + n, &end, 10) : 0;
        bool own_features = arch && strcmp(end, "a") == 0 && arch == NEWEST_ARCH;
        for (size_t i = 0; i < sizeof archs / sizeof archs[0]; i++)
            if (arch == archs[i] && (!*end || own_features)) {
                o->arch = arch < NEWEST_ARCH ? (unsigned)arch : NEWEST_ARCH;
                o->real = real;
                *VEC_PUSH(&p->arena, &o->cc) =
                    arena_printf(&p->arena, "-arch=sm_%u%s", o->arch, own_features ? "a" : "");
                return NULL;
            }
    }
    return arena_printf(&p->arena, "invalid value for --gpu-architecture (-arch): `%s`", value);
}

/* C++14 is the oldest that the headers are written in; what is C++03 or C++11 is C++14, too, but
 * for corners. */
static const char *read_standard(nvrtcProgram p, const char *value, struct nvrtc_options *o)
{
    static const char *const standards[][2] = {
        {"c++03", "c++14"}, {"c++11", "c++14"}, {"c++14", "c++14"}, {"c++17", "c++17"}, {"c++20", "c++20"}};
    for (size_t i = 0; i < sizeof standards / sizeof standards[0]; i++)
        if (strcmp(value, standards[i][0]) == 0) {
            *VEC_PUSH(&p->arena, &o->cc) = arena_printf(&p->arena, "--std=%s", standards[i][1]);
            return NULL;
        }
    return arena_printf(&p->arena, "invalid value for --std (-std): `%s`", value);
}

static const char *apply(nvrtcProgram p, const struct option *option, const char *value, struct nvrtc_options *o)
{
    struct arena *a = &p->arena;
    switch (option->use) {
    case PASSED:
        *VEC_PUSH(a, &o->cc) = arena_printf(a, "--%s", option->long_name);
        if (value)
            *VEC_PUSH(a, &o->cc) = value;
        break;
    case WARNING:
        *VEC_PUSH(a, &o->cc) = value && strcmp(value, "reorder") == 0 ? "-Werror=reorder" : option->words;
        break;
    case STD: return read_standard(p, value, o);
    case ARCH: return read_arch(p, value, o);
    case DEVICE_C: *VEC_PUSH(a, &o->cc) = "-rdc=true"; break;
    case REFUSED: return arena_printf(a, "option --%s: %s", option->long_name, option->words);
    case DEFAULT_DEVICE: o->default_device = true; break;
    case NO_SOURCE_INCLUDE: o->no_source_include = true; break;
    case SYNTAX_ONLY: o->syntax_only = true; break;
    case UNUSED: break;
    }
    return NULL;
}

/* The option at words[*i], which moves on to the last word of it. */
static const char *read_option(nvrtcProgram p, int n, const char *const *words, int *i, struct nvrtc_options *o)
{
    const char *word = words[*i], *value;
    for (size_t k = 0; word && word[0] == '-' && k < sizeof options / sizeof options[0]; k++) {
        if (!matches(&options[k], word, &value))
            continue;
        if (value && options[k].kind == SWITCH)
            return arena_printf(&p->arena, "option `%s` takes no value", word);
        if (!value && options[k].kind != SWITCH)
            value = *i + 1 < n ? words[++*i] : NULL;
        if (!value && options[k].kind != SWITCH)
            return arena_printf(&p->arena, "option `%s` needs a value", word);
        return apply(p, &options[k], value ? arena_strdup(&p->arena, value) : NULL, o);
    }
    return arena_printf(&p->arena, "unrecognized option %s found", word ? word : "NULL");
}

const char *nvrtc_read_options(nvrtcProgram p, int n, const char *const *words, struct nvrtc_options *o)
{
    *o = (struct nvrtc_options){0};
    for (int i = 0; i < n; i++) {
        const char *wrong = read_option(p, n, words, &i, o);
        if (wrong)
            return wrong;
    }
    if (!o->arch) {
        o->arch = DEFAULT_ARCH;
        *VEC_PUSH(&p->arena, &o->cc) = arena_printf(&p->arena, "-arch=sm_%u", o->arch);
    }
    return NULL;
}
