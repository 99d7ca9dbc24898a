/* See program_ptx.h. */
#include "cli/program_ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/text.h"
#include "api/kernel_name.h"
#include "cuda/image/fatbin.h"

enum { ARCH = 90, MOST_KERNELS = 4 };

static struct str text_of(const struct image *image, struct arena *arena)
{
    struct text t = {.arena = arena};
    for (uint32_t i = 0; i < image->texts.n; i++)
        text_put(&t, image->texts.at[i].text, image->texts.at[i].bytes);
    return (struct str){t.p, t.n};
}

struct str program_ptx(const char *path, unsigned wanted, struct arena *arena)
{
    struct image_section sections[MAX_IMAGE_SECTIONS];
    struct elf e;
    struct str text = {0};
    unsigned number = 0;
    if (!elf_open(&e, path))
        return text;
    size_t n = image_sections(&e, sections);
    for (size_t i = 0; i < n && !text.p; i++) {
        struct image image;
        if (number < wanted && image_section_text(&sections[i], wanted, ARCH, &number, &image) == IMAGE_OK) {
            text = text_of(&image, arena);
            image_free(&image);
        }
    }
    elf_close(&e);
    return text;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "PTX 2 of app" */
struct str program_ptx_named(const char *path, const char *name, struct arena *arena)
{
    unsigned number = 0;
    int n = 0;
    if (!path || sscanf(name, "PTX %u of %n", &number, &n) != 1 || !n || strcmp(name + n, base_name(path)) != 0)
        return (struct str){0};
    return program_ptx(path, number, arena);
}

/* "PTX 1 of app: 2 kernels: scale, sum<float>" */
static void print_line(struct session *s, const char *path, unsigned number, struct str text)
{
    hd_source source = {path, text.p, text.n};
    hd_ptx *ptx = NULL;
    hd_report *report = NULL;
    hd_ptx_function f;
    unsigned kernels = 0;
    struct text names = {.arena = &s->arena};
    hd_ptx_read(&source, &ptx, &report);
    hd_report_free(report);
    for (size_t i = 0; ptx && hd_ptx_get_function(ptx, i, &f); i++)
        if (f.is_kernel && ++kernels <= MOST_KERNELS)
            text_printf(&names, "%s%s", kernels > 1 ? ", " : "", kernel_readable(f.name, &s->arena));
    hd_ptx_free(ptx);
    printf("PTX %u of %s: %s, %u kernel%s%s%s%s\n", number, printable(&s->arena, str_of(base_name(path))),
           size_text(text.n, &s->arena), kernels, kernels == 1 ? "" : "s", kernels ? ": " : "", kernels ? names.p : "",
           kernels > MOST_KERNELS ? ", ..." : "");
}

static int list(struct session *s, const char *path)
{
    struct str text;
    unsigned n = 0;
    while ((text = program_ptx(path, n + 1, &s->arena)).p)
        print_line(s, path, ++n, text);
    if (!n)
        return usage_error(s, "%s has no PTX inside (nvcc adds it by -gencode arch=compute_75,code=compute_75)", path);
    return 0;
}

int program_ptx_show(struct session *s, const char *path)
{
    const char *program = access(path, R_OK) ? file_find_program(path, &s->arena) : NULL,
               *file = program ? program : path;
    if (!s->n_words)
        return list(s, file);
    for (int i = 0; i < s->n_words; i++) {
        char *end;
        unsigned long number = strtoul(s->words[i], &end, 10);
        struct str text = *end ? (struct str){0} : program_ptx(file, (unsigned)number, &s->arena);
        if (!text.p)
            return usage_error(s, "%s has no PTX of number %s: `heddle ptx --of %s` lists what it has", path,
                               s->words[i], path);
        fwrite(text.p, 1, text.n, stdout);
    }
    return 0;
}
