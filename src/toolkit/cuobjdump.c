/* cuobjdump: the PTX of programs, objects, libraries, fat binaries and images. Machine code is not looked at. See tools.h. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/file.h"
#include "cuda/object.h"
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
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *name = arena_printf(d->t->arena, "%.*s.%u.sm_%u.ptx",
                                    (int)(strlen(base) - strlen(file_extension(base))), base, ++d->count, text->arch);
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

/* From the newest device down: each container answers with the best that a device can take. */
static int dump_file(struct dump *d, const char *path)
{
    struct file_bytes file;
    const char *error = file_read(d->t->arena, path, 0, &file);
    int status = error ? tool_fail(d->t, "%s", error) : 0;
    for (unsigned arch = d->arch ? d->arch : UINT_MAX, next; !error && arch && !status; arch = next) {
        struct image image;
        next = 0;
        if (object_read(file.bytes, file.n, arch, &image) != IMAGE_OK)
            break;
        for (size_t i = 0; i < image.n; i++)
            next = image.texts[i].arch > next ? image.texts[i].arch : next;
        if (next > arch) { /* an image of one device has nothing else */
            image_free(&image);
            break;
        }
        for (size_t i = 0; i < image.n && !status; i++)
            if (image.texts[i].arch == next)
                status = show(d, path, &image.texts[i]);
        next = d->arch || !next ? 0 : next - 1;
        image_free(&image);
    }
    if (!error)
        free(file.bytes);
    return status;
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
                return tool_fail(t, "%s is about machine code, of which Heddle makes none: -ptx, -lptx, -xptx show PTX",
                                 t->words[t->at]);
        if (*t->words[t->at] != '-') {
            *VEC_PUSH(t->arena, &paths) = t->words[t->at];
        } else if (tool_option(t, "list-ptx", "lptx", NULL)) {
            d.action = LIST;
        } else if (tool_option(t, "extract-ptx", "xptx", &value)) {
            d.action = EXTRACT;
            d.wanted = value ? value : "all";
        } else if (tool_option(t, "gpu-architecture", "arch", &value)) {
            d.arch = value && strpbrk(value, "0123456789") ? (unsigned)atoi(strpbrk(value, "0123456789")) : 0;
        } else if (!tool_option(t, "dump-ptx", "ptx", NULL) && !tool_option(t, "all-fatbin", "all", NULL)) {
            return tool_fail(t, "there is no option `%s` here: -ptx, -lptx, -xptx NAME, -arch sm_N", t->words[t->at]);
        }
    }
    for (; files < (int)paths.n && !status; files++)
        status = dump_file(&d, paths.at[files]);
    return files ? status : tool_fail(t, "which file? As in `cuobjdump -ptx program`");
}
