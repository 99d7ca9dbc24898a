/* oracle-textures [OPTION]... DIR: runs the recorded forms of texture and surface instructions and
 * compares with what an H200 answered.
 *
 * DIR holds the oracle's tex/ folder (or is it): tNNN.ptx, inputs.bin, contents.bin, expected.bin,
 * expected.tsv (offset and length in expected.bin by form), and tex.tsv, whose fields `enum field`
 * names. One line for each form that differs, then "forms N: A agree, D differ". Exit status 1
 * where any differs.
 */
#include "oracle.h"

enum { THREADS = 256, COLUMN = THREADS * 16, IN = 6 * COLUMN, OUT = 10 * COLUMN, PACKED = 1 << 20, FORMS = 1000 };

enum field {
    ID,
    MODULE,
    ENTRY,
    INPUT,
    WORDS,
    SURFACE, /* 0: a texture; 1: read; 2: written, too */
    GEOMETRY,
    FORMAT,
    CHANNELS,
    WIDTH,
    HEIGHT,
    DEPTH,
    LEVELS,
    ADDRESS,
    FILTER,
    MIP_FILTER,
    FLAGS,
    BIAS,
    LEAST_LEVEL,
    MOST_LEVEL,
    BORDER,
    CONTENTS,
    CONTENTS_BYTES,
    TEXT,
    FIELDS
};

struct textures {
    const struct oracle_options *o;
    struct file inputs, contents, expected;
    long at[FORMS];
    size_t bytes[FORMS];
    char module_name[64];
    hd_module *module;
    void *in, *out;
    char packed[PACKED];
};

static unsigned number_of(const char *word, const char *const *words, const unsigned *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, words[i]) == 0)
            return numbers[i];
    fprintf(stderr, "oracle-textures: what is `%s`?\n", word);
    exit(ORACLE_USAGE);
}

static unsigned format_of(const char *word)
{
    static const char *const words[] = {"u8", "u16", "u32", "s8", "s16", "s32", "f16", "f32"};
    static const unsigned numbers[] = {0x01, 0x02, 0x03, 0x08, 0x09, 0x0a, 0x10, 0x20};
    return number_of(word, words, numbers, sizeof numbers / sizeof numbers[0]);
}

static unsigned mode_of(const char *word)
{
    static const char *const words[] = {"wrap", "clamp", "mirror", "border"};
    static const unsigned numbers[] = {0, 1, 2, 3};
    return number_of(word, words, numbers, sizeof numbers / sizeof numbers[0]);
}

static hd_array *array_of(struct textures *t, char **f)
{
    bool gathers = strstr(f[TEXT], "tld4") && strcmp(f[GEOMETRY], "2d") == 0;
    hd_array_desc d = {.format = format_of(f[FORMAT]),
                       .channels = (unsigned)atoi(f[CHANNELS]),
                       .width = (size_t)atoi(f[WIDTH]),
                       .height = (size_t)atoi(f[HEIGHT]),
                       .depth = (size_t)atoi(f[DEPTH]),
                       .levels = (unsigned)atoi(f[LEVELS])};
    d.flags = (f[GEOMETRY][0] == 'a' ? HD_ARRAY_LAYERED : 0) | (strstr(f[GEOMETRY], "cube") ? HD_ARRAY_CUBEMAP : 0) |
              (*f[SURFACE] != '0' ? HD_ARRAY_SURFACE : 0) | (gathers ? HD_ARRAY_GATHER : 0);
    hd_array *a = NULL;
    hd_array_level l;
    const char *from = t->contents.bytes + atol(f[CONTENTS]);
    if (hd_array_create(t->o->machine, &d, &a, NULL))
        return NULL;
    for (unsigned level = 0; hd_array_get_level(a, level, &l); level++) {
        memcpy(l.start, from, l.slice_bytes * l.depth);
        from += l.slice_bytes * l.depth;
    }
    return a;
}

static hd_result object_of(struct textures *t, char **f, hd_array *a, uint64_t *object)
{
    hd_texture_desc d = {.resource = atoi(f[LEVELS]) > 1 ? HD_RESOURCE_MIPMAPPED : HD_RESOURCE_ARRAY,
                         .array = a,
                         .filter = f[FILTER][0] == 'l',
                         .mipmap_filter = f[MIP_FILTER][0] == 'l',
                         .mipmap_bias = (float)atof(f[BIAS]),
                         .mipmap_min = (float)atof(f[LEAST_LEVEL]),
                         .mipmap_max = (float)atof(f[MOST_LEVEL])};
    if (*f[SURFACE] != '0')
        return hd_surface_create(t->o->machine, a, object, NULL);
    for (int i = 0; i < 3; i++)
        d.address_mode[i] = mode_of(f[ADDRESS]);
    d.flags = (strchr(f[FLAGS], 'n') ? HD_TEXTURE_NORMALIZED_COORDINATES : 0) |
              (strchr(f[FLAGS], 'i') ? HD_TEXTURE_READ_AS_INTEGER : 0) | (strchr(f[FLAGS], 's') ? HD_TEXTURE_SRGB : 0);
    char *rest = f[BORDER];
    for (int i = 0; i < 4; i++) {
        d.border[i] = strtof(rest, &rest);
        rest += *rest == ',';
    }
    return hd_texture_create(t->o->machine, &d, object, NULL);
}

static bool load(struct textures *t, const char *name, hd_report **report)
{
    if (strcmp(t->module_name, name) == 0)
        return true;
    hd_module_unload(t->module);
    struct file text = oracle_read(t->o->dir, name);
    hd_source source = {name, text.bytes, text.n};
    hd_result r = hd_module_load(t->o->machine, &source, 1, &t->module, report);
    snprintf(t->module_name, sizeof t->module_name, "%s", r ? "" : name);
    free(text.bytes);
    return !r;
}

/* What the H200's program kept: the first four bytes of each slot, and a surface that is written. */
static size_t pack(struct textures *t, char **f, const hd_array *a)
{
    size_t n = 0;
    hd_array_level l;
    for (int k = 0; k < atoi(f[WORDS]); k++)
        for (int i = 0; i < THREADS; i++, n += 4)
            memcpy(t->packed + n, (char *)t->out + k * COLUMN + i * 16, 4);
    if (*f[SURFACE] == '2' && hd_array_get_level(a, 0, &l)) {
        memcpy(t->packed + n, l.start, l.slice_bytes * l.depth);
        n += l.slice_bytes * l.depth;
    }
    return n;
}

static bool is_equal(const struct textures *t, size_t form, size_t n, char *text, size_t size)
{
    const char *expected = t->expected.bytes + t->at[form];
    size_t at = 0;
    if (n == t->bytes[form] && memcmp(t->packed, expected, n) == 0)
        return true;
    while (at < n && t->packed[at] == expected[at])
        at++;
    size_t used = strlen(text), words = at / 4 * 4;
    uint32_t got, want;
    memcpy(&got, t->packed + words, 4);
    memcpy(&want, expected + words, 4);
    snprintf(text + used, size - used, "differs at byte %zu, thread %zu: 0x%08x, not 0x%08x", at, at / 4 % THREADS, got,
             want);
    return false;
}

static bool agrees(void *data, unsigned n, char **f, char *text, size_t size)
{
    struct textures *t = data;
    hd_report *report = NULL;
    hd_kernel *k;
    uint64_t object = 0;
    snprintf(text, size, "%s of %s %s x%s, %s, filter %s%s, flags %s: ", f[TEXT], f[GEOMETRY], f[FORMAT], f[CHANNELS],
             f[ADDRESS], f[FILTER], f[MIP_FILTER], f[FLAGS]);
    hd_array *a = array_of(t, f);
    if (!a || object_of(t, f, a, &object) || !load(t, f[MODULE], &report))
        return false;
    hd_result r = hd_module_get_kernel(t->module, f[ENTRY], &k, &report);
    const void *args[] = {&t->in, &t->out, &object};
    hd_launch_config config = {.grid = {2, 1, 1}, .block = {THREADS / 2, 1, 1}, .args = args};
    memcpy(t->in, t->inputs.bytes + (size_t)atoi(f[INPUT]) * IN, IN);
    memset(t->out, 0xA5, OUT);
    r = r ? r : hd_launch(k, &config, NULL, &report);
    bool ok = oracle_ran(r, report, text, size) && is_equal(t, n, pack(t, f, a), text, size);
    hd_texture_destroy(t->o->machine, object);
    hd_surface_destroy(t->o->machine, object);
    hd_array_destroy(a);
    return ok;
}

int main(int argc, char **argv)
{
    static struct textures t;
    struct oracle_options o = oracle_parse(argc, argv, "tex", "tex.tsv");
    t.o = &o;
    t.inputs = oracle_read(o.dir, "inputs.bin");
    t.contents = oracle_read(o.dir, "contents.bin");
    t.expected = oracle_read(o.dir, "expected.bin");
    struct file places = oracle_read(o.dir, "expected.tsv");
    char *rest = places.bytes, *place[3];
    for (size_t i = 0; i < FORMS; i++) {
        char *line = oracle_line(&rest);
        if (!line)
            break;
        oracle_split(line, place, 3);
        t.at[i] = atol(place[1]);
        t.bytes[i] = (size_t)atol(place[2]);
    }
    if (hd_alloc(o.machine, IN, &t.in) || hd_alloc(o.machine, OUT, &t.out))
        return ORACLE_USAGE;
    int status = oracle_run(&o, "tex.tsv", FIELDS, ORACLE_NO_GROUP, "forms", agrees, &t);
    free(places.bytes);
    free(t.expected.bytes);
    free(t.contents.bytes);
    free(t.inputs.bytes);
    return status;
}
