/* heddle pack: makes a pack of kernels (cuda/image/pack.h), and lists the kernels in a pack or in
 * an object's machine code. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cuda/image/fatbin.h"
#include "cuda/image/pack_belongs.h"
#include "cuda/image/pack_match.h"
#include "cuda/image/pack_names.h"
#include "cuda/image/pack_write.h"
#include "files/file.h"
#include "ptx/module.h"
#include "report/report.h"

/* Calls `each` for all machine code in an object. */
static void each_code_of(const struct elf *e, void (*each)(void *to, const void *code, size_t n), void *to)
{
    struct image_section sections[MAX_IMAGE_SECTIONS];
    size_t n = image_sections(e, sections);
    for (size_t i = 0; i < n; i++)
        image_each_code(sections[i].data, sections[i].bytes, 90, each, to);
}

/* ---- showing ---- */

static int show_pack(struct session *s, const char *path)
{
    char why[512] = "";
    struct pack *p = pack_open(path, why, sizeof why);
    struct pack_found f;
    if (!p)
        return cli_failure(s, "%s", why);
    for (size_t i = 0; pack_fact_line(p, i); i++)
        printf("# %s\n", pack_fact_line(p, i));
    printf("kind\tname\tbytes\tthreads\tslice\n");
    for (size_t i = 0; i < pack_count(p) && !*why; i++)
        if (pack_at(p, i, &f, why, sizeof why))
            printf("%s\t%s\t%u\t%u\t%u\n", f.symbol.kind == PACK_KERNEL ? "kernel" : "variable", f.name, f.symbol.bytes,
                   f.symbol.threads, f.symbol.slice);
    pack_close(p);
    return *why ? cli_failure(s, "%s", why) : 0;
}

static void show_limits(void *to, const char *name, const struct cubin_limits *l)
{
    char *common = pack_name(name, NULL);
    printf("kernel\t%s\t%u\t%u\t%u\n", common ? common : name, l->parameter_bytes, l->threads, *(unsigned *)to);
    free(common);
}

static void show_code(void *to, const void *code, size_t bytes)
{
    cubin_limits(code, bytes, show_limits, to);
    ++*(unsigned *)to;
}

/* Prints an object in the same columns, with the container's number in place of the slice. */
static int show_object(struct session *s, const char *path)
{
    struct elf e;
    unsigned container = 0;
    if (!elf_open(&e, path))
        return cli_failure(s, "%s is neither a pack nor an ELF file", path);
    printf("kind\tname\tbytes\tthreads\tcontainer\n");
    each_code_of(&e, show_code, &container);
    elf_close(&e);
    return 0;
}

static int show(struct session *s, const char *path)
{
    FILE *f = fopen(path, "rb");
    char magic[4] = "";
    bool is_elf = f && fread(magic, 1, sizeof magic, f) == sizeof magic && memcmp(magic, ELFMAG, SELFMAG) == 0;
    if (f)
        fclose(f);
    return is_elf ? show_object(s, path) : show_pack(s, path);
}

/* ---- making ---- */

static void add_fact(struct session *s, struct str *facts, const char *name, struct str value)
{
    if (!value.p)
        return;
    const char *text = arena_printf(&s->arena, "%.*s%s=%.*s\n", STR_ARG(*facts), name, STR_ARG(value));
    *facts = str_of(text);
}

static const char *add_objects(struct session *s, struct str *facts)
{
    for (unsigned i = 0; i < s->o.pack_objects.n; i++) {
        char *value = pack_object(s->o.pack_objects.at[i]);
        if (!value)
            return arena_printf(&s->arena, "--object %s: this is not an ELF file", s->o.pack_objects.at[i]);
        add_fact(s, facts, "object", str_of(value));
        free(value);
    }
    return NULL;
}

static const char *add_notices(struct session *s, struct str *facts)
{
    struct file_bytes f;
    for (unsigned i = 0; i < s->o.pack_notices.n; i++) {
        const char *error = file_read(&s->arena, s->o.pack_notices.at[i], 0, &f);
        if (error)
            return error;
        for (const char *at = f.bytes, *end; *at; at = end + (*end != 0)) {
            end = strchrnul(at, '\n');
            add_fact(s, facts, "notice", (struct str){at, (size_t)(end - at)});
        }
        free(f.bytes);
    }
    return NULL;
}

static const char *gather_facts(struct session *s, struct str *facts)
{
    const struct options *o = &s->o;
    if (!o->pack_library || !o->pack_version || !o->pack_objects.n)
        return "--library NAME --version VERSION --object FILE must say what the pack belongs to";
    add_fact(s, facts, "library", str_of(o->pack_library));
    add_fact(s, facts, "version", str_of(o->pack_version));
    for (unsigned i = 0; i < o->pack_facts.n; i++) {
        const char *equals = strchr(o->pack_facts.at[i], '=');
        if (!equals || strchr(o->pack_facts.at[i], '\n'))
            return arena_printf(&s->arena, "--fact %s: a fact is NAME=VALUE", o->pack_facts.at[i]);
        const char *name = arena_strndup(&s->arena, o->pack_facts.at[i], (size_t)(equals - o->pack_facts.at[i]));
        add_fact(s, facts, name, str_of(equals + 1));
    }
    add_fact(s, facts, "made-by", str_of(arena_printf(&s->arena, "heddle %s", hd_version())));
    const char *error = add_objects(s, facts);
    if (!error && o->pack_beside)
        add_fact(s, facts, "beside", str_of(o->pack_beside));
    for (unsigned i = 0; !error && i < o->pack_says.n; i++)
        add_fact(s, facts, "says", str_of(o->pack_says.at[i]));
    return error ? error : add_notices(s, facts);
}

/* Adds a file; returns the exit status. */
static int add_file(struct session *s, struct pack_writer *w, const char *path)
{
    struct arena arena = {.on_oom = s->arena.on_oom};
    struct diags diags = {.arena = &arena, .limit = 20};
    struct file_bytes file;
    struct slices slices;
    const char *error = file_read_ptx(&s->arena, path, &file);
    if (error)
        return usage_error(s, "%s", error);
    const struct source *source = source_new(&arena, path, (struct str){file.bytes, file.n});
    int status = 0;
    if (!slices_of(&arena, source, &diags, &slices))
        status = cli_failure(s, "%s: %s", path, diags.list.n ? diags.list.at[0].text : "this is not PTX");
    else if (!pack_add(w, &slices, path))
        status = cli_failure(s, "%s: out of memory, or one of its kernels is too large for a pack", path);
    free(file.bytes);
    arena_free(&arena);
    return status;
}

static void add_limits(void *to, const char *name, const struct cubin_limits *l)
{
    pack_library_add(to, name, l);
}

static void add_code(void *to, const void *code, size_t bytes)
{
    cubin_limits(code, bytes, add_limits, to);
}

/* Gives kernels the names that the objects have for them. */
static void match_objects(struct session *s, struct pack_writer *w)
{
    struct pack_library library = {.arena = &s->arena};
    for (unsigned i = 0; i < s->o.pack_objects.n; i++) {
        struct elf e;
        if (elf_open(&e, s->o.pack_objects.at[i]))
            each_code_of(&e, add_code, &library);
        elf_close(&e);
    }
    if (library.exact.n)
        pack_match(w, &library);
}

static int make(struct session *s)
{
    struct pack_writer w = {.arena = &s->arena};
    struct str facts = {"", 0};
    size_t bytes = 0;
    int status = 0;
    const char *wrong = gather_facts(s, &facts);
    if (wrong)
        return usage_error(s, "%s", wrong);
    for (int i = 0; !status && i < s->n_words; i++) {
        progress_phase(&s->progress, s->words[i], NULL);
        status = add_file(s, &w, s->words[i]);
    }
    progress_clear(&s->progress);
    if (!status)
        match_objects(s, &w);
    char *file = status ? NULL : pack_finish(&w, facts, &bytes);
    if (!status && !file)
        status = cli_failure(s, "out of memory for the pack");
    for (uint32_t i = 0; i < w.left_out.n; i++)
        fprintf(stderr, "heddle: kernel `%s` is left out: two files of the same name define it differently\n",
                w.left_out.at[i]);
    const char *error = file ? file_write_whole(&s->arena, s->o.pack_output, file, bytes) : NULL;
    if (error)
        status = cli_failure(s, "%s", error);
    if (!status)
        printf("%s: %s names of kernels and variables in %s slices, %s of PTX in %s\n", s->o.pack_output,
               count_text(w.entries.n, &s->arena), count_text(w.slices.n, &s->arena), size_text(w.ptx_bytes, &s->arena),
               size_text(bytes, &s->arena));
    pack_writer_free(&w);
    return status;
}

int cmd_pack(struct session *s)
{
    if (!s->n_words)
        return usage_error(s, "heddle pack needs PTX files to pack, or one pack, library or program to show; see "
                              "`heddle pack --help`");
    if (s->o.pack_output)
        return make(s);
    if (s->n_words > 1)
        return usage_error(s, "one file is shown at a time; -o FILE makes a pack");
    return show(s, s->words[0]);
}
