/* See companion.h. */
#include "cuda/state/companion.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/image/pack_belongs.h"
#include "cuda/image/pack_names.h"
#include "cuda/state/contexts.h"
#include "cuda/state/module.h"
#include "cuda/wrapper.h"

/* ---- the process's packs ---- */

struct given {
    struct pack *pack;
    char *object; /* the last inquiry's object */
    enum belongs belongs;
    char why[512];
    bool warned, called;
};

static struct {
    /* Protects everything in this file; the state's lock is taken inside it. */
    pthread_mutex_t lock;
    bool read;
    VEC(struct given) packs;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add_pack(const char *path)
{
    char why[512];
    struct pack *p = pack_open(path, why, sizeof why);
    struct given *g = p ? VEC_ADD(&process.packs) : NULL;
    if (g)
        *g = (struct given){.pack = p};
    else
        say("%s", p ? "out of memory for a pack of kernels" : why);
    if (p && !g)
        pack_close(p);
}

static void add_folder(const char *folder)
{
    glob_t found;
    char *pattern = NULL;
    if (asprintf(&pattern, "%s/*.pack", folder) < 0)
        return;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            add_pack(found.gl_pathv[i]);
        globfree(&found);
    } else {
        say("HEDDLE_KERNELS: there is no pack in the folder %s", folder);
    }
    free(pattern);
}

/* Call with the lock held. */
static void read_packs(void)
{
    const char *list = secure_getenv("HEDDLE_KERNELS");
    char *copy = list && !process.read ? strdup(list) : NULL, *state = NULL;
    process.read = true;
    for (char *path = copy ? strtok_r(copy, ":", &state) : NULL; path; path = strtok_r(NULL, ":", &state)) {
        struct stat st;
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            add_folder(path);
        else
            add_pack(path);
    }
    free(copy);
}

static bool is_wanted(const char *variable)
{
    const char *text = secure_getenv(variable);
    return text && *text && strcmp(text, "0") != 0;
}

/* ---- companions ---- */

struct limit {
    char *name;
    struct cubin_limits of;
};

struct slice {
    const struct given *given;
    uint32_t number;
    struct CUmod_st *module;
};

struct companion {
    /* The process's packs that belong to it; for a name in several, the first counts. */
    VEC(size_t) packs;
    const void *image;
    size_t bytes;
    unsigned arch;
    bool limits_read;
    VEC(struct limit) limits; /* limits from the machine code, by name */
    VEC(struct slice) slices;
    VEC(char *) told; /* missing kernels that were reported */
};

/* The file that contains an image's container (the wrapper may be a copy); "" if no file does. */
static void file_with(const void *image, size_t bytes, char path[PATH_MAX])
{
    struct image_wrapper w = {0};
    Dl_info at;
    if (bytes == SIZE_MAX)
        memcpy(&w, image, sizeof w.magic);
    if (w.magic == IMAGE_WRAPPER_MAGIC) {
        memcpy(&w, image, sizeof w);
        image = w.version == 2 && w.objects && w.objects[0] ? w.objects[0] : w.container;
    }
    *path = 0;
    if (!dladdr(image, &at) || !at.dli_fname)
        return;
    bool is_library = strchr(at.dli_fname, '/') && strcmp(at.dli_fname, program_invocation_name) != 0;
    ssize_t n =
        is_library ? snprintf(path, PATH_MAX, "%s", at.dli_fname) : readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[n > 0 && n < PATH_MAX ? n : 0] = 0;
}

static bool use(struct companion *c, size_t i)
{
    size_t *place = VEC_ADD(&c->packs);
    if (place)
        *place = i;
    return place != NULL;
}

/* Chooses the packs for an object. Call with the lock held. */
static void choose_packs(struct companion *c, const char *path, char *why, size_t size)
{
    for (size_t i = 0; i < process.packs.n; i++) {
        struct given *g = &process.packs.at[i];
        if (!g->object || strcmp(g->object, path) != 0) {
            free(g->object);
            g->object = strdup(path);
            g->belongs = pack_belongs(g->pack, path, g->why, sizeof g->why);
        }
        if (g->belongs == BELONGS) {
            use(c, i);
        } else if (g->belongs == BELONGS_NEARLY && is_wanted("HEDDLE_KERNELS_UNMATCHED")) {
            if (!g->warned)
                say("warning: %s; it is used because of --kernels-unmatched, and its kernels may differ from the "
                    "library's",
                    g->why);
            g->warned = true;
            use(c, i);
        } else if (g->belongs == BELONGS_NEARLY) {
            snprintf(why, size, "%s (--kernels-unmatched uses it all the same)", g->why);
        }
    }
}

struct companion *companion_new(const void *image, size_t bytes, unsigned arch, char *why, size_t size)
{
    char path[PATH_MAX];
    struct companion *c = secure_getenv("HEDDLE_KERNELS") ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    *c = (struct companion){.image = image, .bytes = bytes, .arch = arch};
    file_with(image, bytes, path);
    pthread_mutex_lock(&process.lock);
    read_packs();
    choose_packs(c, path, why, size);
    pthread_mutex_unlock(&process.lock);
    if (c->packs.n)
        return c;
    companion_free(c);
    return NULL;
}

/* Calls the functions that the pack's facts `call` name (cuda/image/pack_belongs.h). They are
 * found in the object with this path and in those that it needs. */
static void call_functions(const struct pack *p, const char *path)
{
    const char *line;
    void *object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    for (unsigned i = 0; object && (line = pack_fact(p, "call", i)); i++) {
        char getter[256], setter[256];
        int value;
        if (sscanf(line, "%255s %255s %d", getter, setter, &value) != 3)
            continue;
        void *(*get)(void) = (void *(*)(void))dlsym(object, getter);
        void (*set)(void *, int) = (void (*)(void *, int))dlsym(object, setter);
        if (get && set)
            set(get(), value);
    }
    if (object)
        dlclose(object);
}

static bool has_calls(void)
{
    bool any = false;
    for (size_t i = 0; i < process.packs.n; i++)
        any = any || (!process.packs.at[i].called && pack_fact(process.packs.at[i].pack, "call", 0));
    return any;
}

void heddle_image_registered(const void *image)
{
    char why[640] = "", path[PATH_MAX];
    if (!secure_getenv("HEDDLE_KERNELS"))
        return;
    pthread_mutex_lock(&process.lock);
    read_packs();
    bool any = has_calls();
    pthread_mutex_unlock(&process.lock);
    struct companion *c = any ? companion_new(image, SIZE_MAX, 0, why, sizeof why) : NULL;
    for (uint32_t i = 0; c && i < c->packs.n; i++) {
        struct given *g = &process.packs.at[c->packs.at[i]];
        pthread_mutex_lock(&process.lock);
        bool is_first = !g->called;
        g->called = true;
        pthread_mutex_unlock(&process.lock);
        if (is_first) {
            file_with(image, SIZE_MAX, path);
            call_functions(g->pack, path);
        }
    }
    companion_free(c);
}

void companion_end(struct companion *c)
{
    for (uint32_t i = 0; c && i < c->slices.n; i++)
        module_drop(c->slices.at[i].module);
}

void companion_free(struct companion *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->limits.n; i++)
        free(c->limits.at[i].name);
    for (uint32_t i = 0; i < c->told.n; i++)
        free(c->told.at[i]);
    free(c->packs.at);
    free(c->limits.at);
    free(c->slices.at);
    free(c->told.at);
    free(c);
}

/* ---- what the machine code says ---- */

static void note_limit(void *to, const char *name, const struct cubin_limits *l)
{
    struct companion *c = to;
    char *copy = strdup(name);
    struct limit *new = copy ? VEC_ADD(&c->limits) : NULL;
    if (new)
        *new = (struct limit){copy, *l};
    else
        free(copy);
}

static void note_limits(void *to, const void *code, size_t bytes)
{
    cubin_limits(code, bytes, note_limit, to);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct limit *)a)->name, ((const struct limit *)b)->name);
}

static const struct cubin_limits *limits_of(struct companion *c, const char *name)
{
    if (!c->limits_read) {
        image_each_code(c->image, c->bytes, c->arch, note_limits, c);
        if (c->limits.n)
            qsort(c->limits.at, c->limits.n, sizeof *c->limits.at, by_name);
        c->limits_read = true;
    }
    struct limit key = {(char *)name, {0}}, *found = NULL;
    if (c->limits.n)
        found = bsearch(&key, c->limits.at, c->limits.n, sizeof *c->limits.at, by_name);
    return found ? &found->of : NULL;
}

/* Does the program's launch fit the pack's kernel? */
static bool fits(struct companion *c, const struct given *g, const char *name, const struct pack_symbol *s, char *why,
                 size_t size)
{
    const struct cubin_limits *l = limits_of(c, name);
    if (!l && g->belongs == BELONGS)
        return true;
    if (!l)
        snprintf(
            why, size,
            "its machine code does not list its parameters, so Heddle cannot compare it with the kernel in the pack "
            "%s, which is from another build",
            pack_path(g->pack));
    else if (l->parameter_bytes != s->bytes)
        snprintf(why, size,
                 "it has %u bytes of parameters, but the kernel in the pack %s has %u: that is another kernel",
                 l->parameter_bytes, pack_path(g->pack), s->bytes);
    else if (l->threads && s->threads && l->threads != s->threads)
        snprintf(why, size,
                 "it allows %u threads in a block, but the kernel in the pack %s allows %u: that is another kernel",
                 l->threads, pack_path(g->pack), s->threads);
    else
        return true;
    return false;
}

/* ---- finding ---- */

static CUresult slice_module(struct CUmod_st *m, const struct given *g, uint32_t number, struct CUmod_st **module,
                             char *why, size_t size)
{
    struct companion *c = m->companion;
    for (uint32_t i = 0; i < c->slices.n; i++)
        if (c->slices.at[i].given == g && c->slices.at[i].number == number) {
            *module = c->slices.at[i].module;
            return CUDA_SUCCESS;
        }
    size_t bytes;
    const char *path = pack_path(g->pack), *slash = strrchr(path, '/');
    char name[64], *text = pack_text(g->pack, number, &bytes, why, size);
    if (!text)
        return CUDA_ERROR_INVALID_IMAGE;
    snprintf(name, sizeof name, "%.40s, slice %u", slash ? slash + 1 : path, number);
    CUresult r = module_new(m->context, text, bytes, name, NULL, module);
    free(text);
    struct slice *s = r ? NULL : VEC_ADD(&c->slices);
    if (s)
        *s = (struct slice){g, number, *module};
    else
        snprintf(why, size, "its PTX in the pack %s cannot be loaded", path);
    return r ? r : s ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Finds the name in the first pack that has it. NULL, with an empty `why`, if none has. */
static const struct given *look_up(const struct companion *c, enum pack_kind kind, const char *name,
                                   struct pack_found *found, char *why, size_t size)
{
    char *common = pack_name(name, NULL);
    *why = 0;
    for (uint32_t i = 0; common && i < c->packs.n && !*why; i++) {
        const struct given *g = &process.packs.at[c->packs.at[i]];
        if (pack_find(g->pack, kind, common, found, why, size)) {
            free(common);
            return g;
        }
    }
    free(common);
    return NULL;
}

/* Gives the context a fault after a missing kernel. Programs do not check all errors: PyTorch would
 * read what CUB's kernels did not write. */
static void stop(const struct CUmod_st *m, char *why, size_t size)
{
    CUcontext c = m->context ? m->context : context_top();
    size_t n = strlen(why);
    if (!c || is_wanted("HEDDLE_KERNELS_PARTIAL"))
        return;
    hd_context_fail(c->context, HD_ERROR_NO_BINARY);
    snprintf(why + n, size - n, "; every later call for the device fails, too (unless --kernels-partial is given)");
}

static void tell_once(struct companion *c, const char *name, const char *why)
{
    for (uint32_t i = 0; i < c->told.n; i++)
        if (strcmp(c->told.at[i], name) == 0) {
            log_line(LOG_ERROR, "kernel `%s` is refused again, for the same reason", name);
            return;
        }
    char *copy = strdup(name), **place = copy ? VEC_ADD(&c->told) : NULL;
    if (place)
        *place = copy;
    else
        free(copy);
    heddle_symbol_refused("kernel", name, c->image, why);
}

static CUresult find(struct CUmod_st *m, enum pack_kind kind, const char *name, struct CUmod_st **slice,
                     const char **literal, char *why, size_t size)
{
    struct companion *c = m->companion;
    struct pack_found found;
    const struct given *g = look_up(c, kind, name, &found, why, size);
    if (!g && !*why && kind == PACK_KERNEL)
        snprintf(why, size,
                 "the library has only machine code for this kernel, and %s, with %zu names, does not contain it",
                 pack_path(process.packs.at[c->packs.at[0]].pack), pack_count(process.packs.at[c->packs.at[0]].pack));
    if (!g || (kind == PACK_KERNEL && !fits(c, g, name, &found.symbol, why, size)))
        return kind == PACK_KERNEL || *why ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_NOT_FOUND;
    *literal = found.literal;
    return slice_module(m, g, found.symbol.slice, slice, why, size);
}

CUresult companion_find(struct CUmod_st *m, enum pack_kind kind, const char *name, struct CUmod_st **slice,
                        const char **literal)
{
    char why[640] = "";
    pthread_mutex_lock(&process.lock);
    CUresult r = find(m, kind, name, slice, literal, why, sizeof why);
    if (r && kind == PACK_KERNEL)
        stop(m, why, sizeof why);
    if (r && *why)
        tell_once(m->companion, name, why);
    pthread_mutex_unlock(&process.lock);
    return r;
}
