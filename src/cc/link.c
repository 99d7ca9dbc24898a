/* Linking: of the host's code by clang's or another driver, of device code by a source that
 * registers all PTX as one (units.c, registry.c), which the driver links when the program starts.
 * See job.h.
 */
#include <string.h>
#include <unistd.h>

#include "cc/commands.h"
#include "cc/job.h"

const char *cc_linker(struct job *j)
{
    /* the host's side of CUDA files needs clang's library of OpenMP, which has
     * the interface of GCC's, too */
    bool others = j->host_cxx && !cc_has_openmp(j);
    const char *program = others ? j->host_cxx : j->clang;
    const char *slash = strrchr(program, '/'), *base = slash ? slash + 1 : program;
    const char *c = others ? "gcc" : "clang", *cxx = others ? "g++" : "clang++";
    size_t n = strlen(c);
    if (strncmp(base, c, n) != 0 || base[n] == '+')
        return program;
    return arena_printf(j->arena, "%.*s%s%s", (int)(base - program), program, cxx, base + n);
}

/* ---- device code ---- */

/* Compiles what registers the device code of objects and libraries to `object`; *needed says
 * whether there is some. */
static bool make_registry(struct job *j, const cc_words *objects, const char *object, bool *needed)
{
    struct cc_units units = {0};
    cc_words files = {0}, c = {0};
    job_add_all(j, &files, objects);
    for (uint32_t i = 0; i < j->o.list[CC_LIBRARY].n; i++) {
        const char *library = cc_find_library(&j->o.list[CC_LIBRARY_PATH], j->o.list[CC_LIBRARY].at[i], j->arena);
        if (library)
            ADD(&files, library);
    }
    const char *error = cc_find_units(&files, &units, j->arena);
    if (error)
        return cc_failure(j, "%s", error) == 0;
    *needed = units.all.n > 0;
    if (!*needed && !j->o.given[CC_DEVICE_LINK])
        return true;
    const char *source = job_temporary(j, "heddle-registry.c", ".c"), *text = cc_registry(&units, j->arena);
    if (!job_write(j, source, text, strlen(text)))
        return false;
    ADD(&c, j->clang);
    ADD(&c, "-c");
    ADD(&c, "-fPIC");
    ADD(&c, source);
    ADD(&c, "-o");
    ADD(&c, object);
    return job_run(j, &c);
}

/* -dlink: the object that another linker takes. */
static bool link_device(struct job *j, const cc_words *objects)
{
    bool needed;
    return make_registry(j, objects, j->o.given[CC_OUTPUT] ? j->o.value[CC_OUTPUT] : "a_dlink.o", &needed);
}

/* ---- libraries ---- */

void cc_add_library_paths(struct job *j, cc_words *c)
{
    if (j->o.given[CC_TOOLKIT]) {
        ADD(c, arena_printf(j->arena, "-L%s/lib64/stubs", j->o.value[CC_TOOLKIT]));
        ADD(c, arena_printf(j->arena, "-L%s/lib64", j->o.value[CC_TOOLKIT]));
    } else {
        ADD(c, arena_printf(j->arena, "-L%s", j->libraries));
    }
}

const struct cc_drop_in cc_drop_ins[] = {
#define LIBRARY(name, soname, cuda) {#name, soname},
#include "cuda/libraries.def"
#undef LIBRARY
    {NULL, NULL}};

/* Ours for `curand` or `curand_static`: its name, or NULL. */
static const char *drop_in(const char *name)
{
    static const char with_static[] = "_static";
    const char *soname = NULL;
    for (const struct cc_drop_in *d = cc_drop_ins; d->name; d++) {
        size_t n = strlen(d->name);
        if (strncmp(name, d->name, n) == 0 && (!name[n] || strcmp(name + n, with_static) == 0))
            soname = d->soname;
    }
    return soname;
}

/* Libraries of the toolkit that are part of ours, or are ours under another name. */
static void add_library(struct job *j, cc_words *c, const char *name)
{
    static const char *const within[] = {"cudart", "cudart_static", "cudadevrt", "culibos"};
    const char *soname = drop_in(name);
    for (size_t i = 0; i < sizeof within / sizeof within[0]; i++)
        if (strcmp(name, within[i]) == 0)
            return;
    if (soname && !j->o.given[CC_TOOLKIT]) {
        ADD(c, arena_printf(j->arena, "-l:%s", soname));
        return;
    }
    ADD(c, strcmp(name, "cuda") == 0 && !j->o.given[CC_TOOLKIT] ? "-l:libcuda.so.1"
                                                                : arena_printf(j->arena, "-l%s", name));
}

static void add_runtime(struct job *j, cc_words *c)
{
    static const char *const with_static[] = {"-lcudadevrt", "-lcudart_static", "-lrt", "-lpthread", "-ldl"};
    const char *cudart = j->o.given[CC_CUDART] ? j->o.value[CC_CUDART] : j->o.given[CC_TOOLKIT] ? "static" : "shared";
    if (strcmp(cudart, "static") == 0)
        for (size_t i = 0; i < sizeof with_static / sizeof with_static[0]; i++)
            ADD(c, with_static[i]);
    else if (strcmp(cudart, "shared") == 0)
        ADD(c, j->o.given[CC_TOOLKIT] ? "-lcudart" : "-l:libcudart.so.13");
}

static bool make_library(struct job *j, const cc_words *objects)
{
    cc_words c = {0};
    const char *output = j->o.given[CC_OUTPUT] ? j->o.value[CC_OUTPUT] : "a.a";
    if (!j->o.given[CC_DRY_RUN])
        unlink(output); /* ar adds to what is there */
    ADD(&c, j->o.given[CC_ARCHIVER] ? j->o.value[CC_ARCHIVER] : "ar");
    ADD(&c, "rcs");
    job_add_parts(j, &c, CC_XARCHIVE, NULL);
    ADD(&c, output);
    job_add_all(j, &c, objects);
    return job_run(j, &c);
}

/* ---- programs ---- */

bool cc_link(struct job *j, const cc_words *objects)
{
    const struct cc_options *o = &j->o;
    cc_words c = {0};
    if (o->given[CC_LIB])
        return make_library(j, objects);
    if (o->given[CC_DEVICE_LINK])
        return o->given[CC_DRY_RUN] || link_device(j, objects);
    const char *registry = job_temporary(j, "heddle-registry.c", ".o");
    bool needed = false;
    if (!o->given[CC_DRY_RUN] && !make_registry(j, objects, registry, &needed))
        return false;
    ADD(&c, cc_linker(j));
    if (o->given[CC_SHARED])
        ADD(&c, "-shared");
    if (needed)
        ADD(&c, registry); /* before libraries, of which it asks for members */
    job_add_all(j, &c, objects);
    cc_add_host_options(j, &c);
    job_add_all(j, &c, &o->link);
    job_add_parts(j, &c, CC_XLINKER, "-Xlinker");
    /* first: a toolkit's own folder, which Makefiles name, has libraries of the same names */
    cc_add_library_paths(j, &c);
    job_add_values(j, &c, CC_LIBRARY_PATH, "-L", true);
    for (uint32_t i = 0; i < o->list[CC_LIBRARY].n; i++)
        add_library(j, &c, o->list[CC_LIBRARY].at[i]);
    add_runtime(j, &c);
    ADD(&c, arena_printf(j->arena, "-Wl,-rpath,%s", j->libraries));
    ADD(&c, "-o");
    ADD(&c, o->given[CC_OUTPUT] ? o->value[CC_OUTPUT] : "a.out");
    return job_run(j, &c);
}
