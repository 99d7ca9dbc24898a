/* cuobjdump: the PTX of programs, objects, libraries, fat binaries and images. Machine code is not
 * looked at. See tools.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/file.h"
#include "cuda/image/object.h"
#include "toolkit/tools.h"

enum action { SHOW, LIST, EXTRACT };

struct dump {
    struct tool *t;
    enum action action;
    const char *wanted; /* part of the names that are extracted, or "all" */
    unsigned arch;      /* 0: every one */
    unsigned count;
};

static int show(struct dump *d, const char *path, const struct image_text *text)
{
    const char *name =
        arena_printf(d->t->arena, "%s.%u.sm_%u.ptx", file_stem(d->t->arena, path), ++d->count, text->arch);
    if (d->action == LIST) {
        printf("PTX file    %u: %s\n", d->count, name);
    } else if (d->action == EXTRACT) {
        const char *error = strcmp(d->wanted, "all") == 0 || strstr(name, d->wanted)
                                ? file_write_whole(d->t->arena, name, text->text, text->bytes)
                                : NULL;
        if (error)
            return tool_fail(d->t, "%s", error);
    } else {
        printf("\nFatbin ptx code:\n================\narch = sm_%u\nhost = linux\ncompile_size = 64bit\n\n%.*s\n",
               text->arch, (int)text->bytes, text->text);
    }
    return 0;
}

static int dump_file(struct dump *d, const char *path)
{
    struct file_bytes file;
    struct image image;
    const char *error = file_read(d->t->arena, path, 0, &file);
    if (error)
        return tool_fail(d->t, "%s", error);
    enum image_result r = object_read(file.bytes, file.n, IMAGE_EVERY_ARCH, &image);
    free(file.bytes);
    if (r)
        return tool_fail(d->t, "%s: %s", path, *image.why ? image.why : "out of memory");
    int status = 0;
    for (size_t i = 0; i < image.texts.n && !status; i++)
        if (!d->arch || image.texts.at[i].arch == d->arch)
            status = show(d, path, &image.texts.at[i]);
    if (!image.texts.n)
        fprintf(stderr, "%s info    : File '%s' does not contain device code\n", d->t->name, path);
    image_free(&image);
    return status;
}

/* "sm_80", "compute_80"; 0: neither. */
static unsigned arch_of(const char *text)
{
    const char *number = text ? strpbrk(text, "0123456789") : NULL;
    return number ? (unsigned)strtoul(number, NULL, 10) : 0;
}

int tool_cuobjdump(struct tool *t)
{
    static const char *const code[][2] = {{"dump-sass", "sass"},
                                          {"dump-elf", "elf"},
                                          {"list-elf", "lelf"},
                                          {"extract-elf", "xelf"},
                                          {"dump-elf-symbols", "symbols"},
                                          {"dump-resource-usage", "res-usage"}};
    struct dump d = {.t = t, .action = SHOW};
    const char *value;
    int status = 0, files = 0;
    VEC(const char *) paths = {0};
    for (; t->at < t->n; t->at++) {
        for (size_t i = 0; i < sizeof code / sizeof code[0]; i++)
            if (*t->words[t->at] == '-' && tool_option(t, code[i][0], code[i][1], NULL))
                return tool_fail(t, "%s shows machine code, which Heddle does not make: -ptx, -lptx, -xptx show PTX",
                                 t->words[t->at]);
        if (*t->words[t->at] != '-') {
            *VEC_PUSH(t->arena, &paths) = t->words[t->at];
        } else if (tool_option(t, "list-ptx", "lptx", NULL)) {
            d.action = LIST;
        } else if (tool_option(t, "extract-ptx", "xptx", &value)) {
            d.action = EXTRACT;
            d.wanted = value ? value : "all";
        } else if (tool_option(t, "gpu-architecture", "arch", &value)) {
            d.arch = arch_of(value);
            if (!d.arch)
                return tool_fail(t, "-arch: the device is missing, as in `-arch sm_90`");
        } else if (!tool_option(t, "dump-ptx", "ptx", NULL) && !tool_option(t, "all-fatbin", "all", NULL)) {
            return tool_fail(t, "there is no option `%s` here: -ptx, -lptx, -xptx NAME, -arch sm_N", t->words[t->at]);
        }
    }
    for (; files < (int)paths.n && !status; files++)
        status = dump_file(&d, paths.at[files]);
    return files ? status : tool_fail(t, "the file is missing, as in `cuobjdump -ptx program`");
}
