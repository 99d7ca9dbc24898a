/* nvlink: objects, libraries and images of PTX to one image, by our nvJitLink. See tools.h. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cc/cc.h"
#include "files/file.h"
#include "files/places.h"
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

static int link_files(struct tool *t, struct linker *l, const char *arch, const cc_words *files, const char *output)
{
    const char *options[] = {arena_printf(t->arena, "-arch=%s", arch)};
    size_t bytes = 0;
    if (l->create(&l->handle, 1, options))
        return fail_by_log(t, l, arch);
    for (uint32_t i = 0; i < files->n; i++)
        if (l->add(l->handle, INPUT_ANY, files->at[i]))
            return fail_by_log(t, l, files->at[i]);
    if (l->complete(l->handle) || l->image_size(l->handle, &bytes))
        return fail_by_log(t, l, "the files cannot be linked");
    void *image = arena_alloc(t->arena, bytes);
    l->image(l->handle, image);
    const char *error = file_write_whole(t->arena, output, image, bytes);
    return error ? tool_fail(t, "%s", error) : 0;
}

/* The command line. Libraries stand where the linker of the host would look at them. */
struct link_words {
    const char *arch, *output;
    cc_words files, folders; /* -lNAME is a file like "-lNAME" until all folders are known */
};

static bool is_unused(struct tool *t)
{
    static const char *const switches[] = {"verbose", "v", "debug", "g", "generate-line-info", "lineinfo", "m64"};
    static const char *const values[] = {"cpu-arch", "host-ccbin", "machine"};
    const char *value;
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++)
        if (tool_option(t, switches[i], NULL, NULL))
            return true;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (tool_option(t, values[i], NULL, &value))
            return true;
    return false;
}

/* "-LFOLDER", "-L FOLDER" and "--library-path=FOLDER" alike: what stands behind, or NULL. */
static const char *value_of_letter(struct tool *t, const char *letter, const char *name)
{
    const char *word = t->words[t->at], *value = NULL;
    if (tool_option(t, name, letter, &value))
        return value;
    return word[0] == '-' && word[1] == *letter && word[2] ? word + 2 : NULL;
}

static int read_words(struct tool *t, struct link_words *l)
{
    const char *value;
    for (; t->at < t->n; t->at++) {
        const char *word = t->words[t->at];
        if (*word != '-')
            *VEC_PUSH(t->arena, &l->files) = word;
        else if (tool_option(t, "arch", NULL, &value))
            l->arch = value;
        else if (tool_option(t, "output-file", "o", &value))
            l->output = value ? value : l->output;
        else if (is_unused(t))
            continue;
        else if ((value = value_of_letter(t, "L", "library-path")))
            *VEC_PUSH(t->arena, &l->folders) = value;
        else if ((value = value_of_letter(t, "l", "library")))
            *VEC_PUSH(t->arena, &l->files) = arena_printf(t->arena, "-l%s", value);
        else
            return tool_fail(t,
                             "there is no option `%s` here: -arch=sm_N -o FILE -L FOLDER -l NAME; objects that the "
                             "host registers are linked by nvcc -dlink",
                             word);
    }
    return 0;
}

/* What is in no folder, or shared, has no device code to be linked: the
 * host's linker looks for it. */
static void find_libraries(struct tool *t, struct link_words *l)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->files.n; i++) {
        const char *file = l->files.at[i];
        file = *file == '-' ? cc_find_library(&l->folders, file + 2, t->arena) : file;
        if (file)
            l->files.at[n++] = file;
    }
    l->files.n = n;
}

int tool_nvlink(struct tool *t)
{
    struct link_words words = {.output = "a.out"};
    int status = read_words(t, &words);
    if (status)
        return status;
    find_libraries(t, &words);
    if (!words.arch || !words.files.n)
        return tool_fail(t, "the device or the files are missing, as in `nvlink -arch=sm_90 a.o b.o -o program.cubin`");
    struct linker l = {0};
    if (!open_linker(&l, t->arena))
        return tool_fail(t, "Heddle's libnvJitLink.so.13 is not where it was installed");
    status = link_files(t, &l, words.arch, &words.files, words.output);
    if (l.handle)
        l.destroy(&l.handle);
    return status;
}
