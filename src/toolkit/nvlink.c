/* nvlink: objects, libraries and images of PTX to one image, by our nvJitLink. See tools.h. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/file.h"
#include "cli/places.h"
#include "toolkit/tools.h"

enum { INPUT_ANY = 10 }; /* nvJitLinkInputType */

/* The functions of the library. */
struct linker {
    void *library, *handle;
    int (*create)(void **handle, unsigned n, const char **options);
    int (*destroy)(void **handle);
    int (*add)(void *handle, int type, const char *path);
    int (*complete)(void *handle);
    int (*image_size)(void *handle, size_t *bytes);
    int (*image)(void *handle, void *to);
    int (*log_size)(void *handle, size_t *bytes);
    int (*log)(void *handle, char *to);
};

static bool open_linker(struct linker *l, struct arena *arena)
{
    const char *place = place_of_libraries(arena);
    l->library = place ? dlopen(arena_printf(arena, "%s/libnvJitLink.so.13", place), RTLD_NOW) : NULL;
    const struct {
        void *to;
        const char *name;
    } functions[] = {
        {&l->create, "nvJitLinkCreate"},
        {&l->destroy, "nvJitLinkDestroy"},
        {&l->add, "nvJitLinkAddFile"},
        {&l->complete, "nvJitLinkComplete"},
        {&l->image_size, "nvJitLinkGetLinkedCubinSize"},
        {&l->image, "nvJitLinkGetLinkedCubin"},
        {&l->log_size, "nvJitLinkGetErrorLogSize"},
        {&l->log, "nvJitLinkGetErrorLog"},
    };
    for (size_t i = 0; l->library && i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(l->library, functions[i].name);
        memcpy(functions[i].to, &function, sizeof function);
    }
    return l->library && l->create && l->destroy && l->add && l->complete && l->image_size && l->image && l->log_size &&
           l->log;
}

static int fail_by_log(struct tool *t, struct linker *l, const char *what)
{
    size_t n = 0;
    char *text = l->handle && l->log_size(l->handle, &n) == 0 ? arena_alloc(t->arena, n + 1) : NULL;
    if (text && l->log(l->handle, text) == 0 && *text)
        return tool_fail(t, "%.*s", (int)strcspn(text, "\n"), text);
    return tool_fail(t, "%s", what);
}

static int link_files(struct tool *t, struct linker *l, const char *arch, const char *const *paths, uint32_t n,
                      const char *output)
{
    const char *options[] = {arena_printf(t->arena, "-arch=%s", arch)};
    size_t bytes = 0;
    if (l->create(&l->handle, 1, options))
        return fail_by_log(t, l, arch);
    for (uint32_t i = 0; i < n; i++)
        if (l->add(l->handle, INPUT_ANY, paths[i]))
            return fail_by_log(t, l, paths[i]);
    if (l->complete(l->handle) || l->image_size(l->handle, &bytes))
        return fail_by_log(t, l, "the link does not succeed");
    void *image = arena_alloc(t->arena, bytes);
    l->image(l->handle, image);
    const char *error = file_write_whole(t->arena, output, image, bytes);
    return error ? tool_fail(t, "%s", error) : 0;
}

/* -lNAME in the folders of -L, as a library of objects; NULL: it is none. */
static const char *find_library(struct tool *t, const char *name)
{
    for (int i = 2; i < t->n; i++) {
        const char *folder = strncmp(t->words[i], "-L", 2) == 0 ? t->words[i] + 2 : NULL;
        const char *path = folder ? arena_printf(t->arena, "%s/lib%s.a", folder, name) : NULL;
        if (path && access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

int tool_nvlink(struct tool *t)
{
    const char *arch = NULL, *output = "a.out", *value;
    VEC(const char *) paths = {0};
    for (; t->at < t->n; t->at++) {
        const char *word = t->words[t->at];
        if (*word != '-')
            *VEC_PUSH(t->arena, &paths) = word;
        else if (strncmp(word, "-l", 2) == 0 && find_library(t, word + 2))
            *VEC_PUSH(t->arena, &paths) = find_library(t, word + 2);
        else if (tool_option(t, "arch", NULL, &value))
            arch = value;
        else if (tool_option(t, "output-file", "o", &value))
            output = value ? value : output;
        else if (strncmp(word, "-L", 2) != 0 && strncmp(word, "-l", 2) != 0 && strcmp(word, "-m64") != 0 &&
                 !tool_option(t, "verbose", "v", NULL) && !tool_option(t, "debug", "g", NULL) &&
                 !tool_option(t, "cpu-arch", NULL, &value) && !tool_option(t, "host-ccbin", NULL, &value))
            return tool_fail(
                t,
                "there is no option `%s` here: -arch=sm_N -o FILE -L FOLDER -l NAME; objects that the host "
                "registers are linked by nvcc -dlink",
                word);
    }
    if (!arch || !paths.n)
        return tool_fail(t, "which device and files? As in `nvlink -arch=sm_90 a.o b.o -o program.cubin`");
    struct linker l = {0};
    if (!open_linker(&l, t->arena))
        return tool_fail(t, "Heddle's libnvJitLink.so.13 is not where it was installed");
    int status = link_files(t, &l, arch, paths.at, paths.n, output);
    if (l.handle)
        l.destroy(&l.handle);
    return status;
}
