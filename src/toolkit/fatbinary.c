/* fatbinary: PTX and images of PTX (ours, in the place of machine code) to one fat binary, which
 * has one text for a device. See tools.h. */
#include <stdlib.h>
#include <string.h>

#include "cc/cc.h"
#include "files/file.h"
#include "cuda/image/object.h"
#include "toolkit/tools.h"

typedef VEC(struct cc_ptx) ptx_list;

/* KEY's value in "kind=ptx,sm=75,file=a.ptx"; NULL: it has none. */
static const char *field(struct tool *t, const char *spec, const char *key)
{
    size_t n = strlen(key);
    for (const char *p = spec; *p; p += strcspn(p, ","), p += *p == ',')
        if (strncmp(p, key, n) == 0 && p[n] == '=')
            return arena_strndup(t->arena, p + n + 1, strcspn(p + n + 1, ","));
    return NULL;
}

static bool is_known(const ptx_list *list, const char *arch, const struct image_text *text)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (strcmp(list->at[i].arch, arch) == 0 && list->at[i].n == text->bytes &&
            memcmp(list->at[i].text, text->text, text->bytes) == 0)
            return true;
    return false;
}

/* "profile=sm_75,file=F", "kind=ptx,sm=75,file=F". */
static int add_image(struct tool *t, const char *spec, ptx_list *list)
{
    const char *path = field(t, spec, "file"), *sm = field(t, spec, "sm"), *profile = field(t, spec, "profile");
    const char *arch = sm ? sm : profile && strchr(profile, '_') ? strchr(profile, '_') + 1 : NULL;
    struct file_bytes file;
    struct image image;
    if (!path || !arch)
        return tool_fail(t, "`%s`: this image needs a form like kind=ptx,sm=75,file=kernel.ptx", spec);
    const char *error = file_read(t->arena, path, 0, &file);
    if (error)
        return tool_fail(t, "%s", error);
    enum image_result r = object_read(file.bytes, file.n, 9999, &image);
    free(file.bytes);
    if (r)
        return tool_fail(t, "%s: %s", path, *image.why ? image.why : "it has no PTX");
    const struct image_text *text = &image.texts.at[0];
    if (image.texts.n > 1)
        return tool_fail(
            t,
            "%s has %u modules to be linked, but a fat binary has one module for each device: load the file as it is",
            path, image.texts.n);
    if (image.texts.n && !is_known(list, arch, text))
        *VEC_PUSH(t->arena, list) =
            (struct cc_ptx){arch, arena_strndup(t->arena, text->text, text->bytes), text->bytes};
    image_free(&image);
    return 0;
}

int tool_fatbinary(struct tool *t)
{
    static const char *const switches[][2] = {{"64", NULL},      {"compress-all", NULL}, {"debug", "g"},
                                              {"device-c", "c"}, {"link", NULL},         {"no-asm", NULL}};
    static const char *const unused[] = {"cmdline", "cicc-cmdline", "compress", "compress-mode", "ident", "host"};
    const char *output = NULL, *value;
    ptx_list list = {0};
    int status = 0;
    for (; t->at < t->n && !status; t->at++) {
        bool taken = *t->words[t->at] != '-';
        for (size_t i = 0; i < sizeof switches / sizeof switches[0] && !taken; i++)
            taken = tool_option(t, switches[i][0], switches[i][1], NULL);
        for (size_t i = 0; i < sizeof unused / sizeof unused[0] && !taken; i++)
            taken = tool_option(t, unused[i], NULL, &value);
        if (taken)
            continue;
        if (tool_option(t, "create", NULL, &output))
            continue;
        if (tool_option(t, "image3", NULL, &value) || tool_option(t, "image", NULL, &value))
            status = add_image(t, value ? value : "", &list);
        else
            status = tool_fail(t, "there is no option `%s` here: --create=FILE --image3=kind=ptx,sm=N,file=FILE",
                               t->words[t->at]);
    }
    if (status)
        return status;
    if (!output || !list.n)
        return tool_fail(t, "--create=FILE (the output) and --image3=kind=ptx,sm=N,file=FILE (an input) are needed");
    size_t bytes;
    void *fatbin = cc_fatbin(list.at, list.n, &bytes);
    const char *error = fatbin ? file_write_whole(t->arena, output, fatbin, bytes) : "out of memory";
    free(fatbin);
    return error ? tool_fail(t, "%s", error) : 0;
}
