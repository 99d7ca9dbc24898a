/* ptxas, for programs that call one: checks PTX as `heddle ptx` does, and writes it as an image
 * that Heddle's libcuda.so.1 loads in the place of machine code (cuda/image/fatbin.h). `heddle run`
 * has Triton and XLA find it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cuda/image/fatbin.h"

enum kind { SWITCH, VALUE, CODE, CODE_VALUE };

enum id {
#define PTXAS(id, kind, short_name, long_name, value, help) ID_##id,
#include "toolkit/ptxas.def"
#undef PTXAS
    N_OPTIONS
};

static const struct option {
    enum kind kind;
    const char *short_name, *long_name, *value, *help;
} options[] = {
#define PTXAS(id, kind, short_name, long_name, value, help) {kind, short_name, long_name, value, help},
#include "toolkit/ptxas.def"
#undef PTXAS
};

/* What the command line says. */
struct request {
    const char *value[N_OPTIONS]; /* NULL: not given; "" for a switch */
    const char *input;
};

/* The toolkit whose PTX this front end knows best; programs choose their PTX version by it. */
/* The toolkit that it stands for. Triton names the ptxas that it is to use by a variable; before
 * 3.4 it takes none later than 12.6, which does for all devices but those of sm_100 and later. */
static const char *toolkit(void)
{
    const char *device = getenv("HEDDLE_DEVICE");
    bool is_new = device && strncmp(device, "sm_1", 4) == 0;
    return getenv("TRITON_PTXAS_PATH") && !is_new ? "12.6" : "13.0";
}

static int fail(struct session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(struct session *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "ptxas fatal   : %s\n", arena_vprintf(&s->arena, format, args));
    va_end(args);
    return 255; /* as the vendor's */
}

/* ---- the command line ---- */

static bool takes_value(const struct option *o)
{
    return o->kind == VALUE || o->kind == CODE_VALUE;
}

/* The option that `word` (without its dashes) begins with, and its value where it stands in the
 * same word. */
static const struct option *find(const char *word, const char **value)
{
    const struct option *joined = NULL;
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const char *names[] = {options[i].long_name, options[i].short_name};
        for (int k = 0; k < 2; k++) {
            size_t n = strlen(names[k]);
            *value = NULL;
            if (strcmp(word, names[k]) == 0)
                return &options[i];
            *value = word + n + 1;
            if (strncmp(word, names[k], n) == 0 && word[n] == '=' && takes_value(&options[i]))
                return &options[i];
            if (n == 1 && *word == *names[k] && takes_value(&options[i]))
                joined = &options[i];
        }
    }
    *value = joined ? word + 1 : NULL;
    return joined;
}

/* Returns the exit status of wrong usage, or 0. */
static int read_options(struct session *s, struct request *r)
{
    for (int i = 1; i < s->argc; i++) {
        const char *word = s->argv[i], *value;
        if (*word != '-' || !word[1]) {
            if (r->input)
                return fail(s, "ptxas takes one file: `%s` is the second", word);
            r->input = word;
            continue;
        }
        const struct option *o = find(word + 1 + (word[1] == '-'), &value);
        if (!o)
            return fail(s, "there is no option `%s`; `ptxas --help` lists them", word);
        if (takes_value(o) && !value && !(value = s->argv[++i]))
            return fail(s, "`%s` needs a value", word);
        r->value[o - options] = value ? value : "";
    }
    return 0;
}

static void print_help(void)
{
    printf(
        "usage: ptxas [OPTIONS] FILE.ptx\n\n"
        "Checks PTX and writes an image of it for Heddle's libcuda.so.1, in the place of machine code.\n\nOptions:\n");
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (*options[i].help)
            printf("  -%s, --%s %s\n        %s\n", options[i].short_name, options[i].long_name, options[i].value,
                   options[i].help);
    printf("\nAccepted without effect, because Heddle makes no machine code:\n");
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (!*options[i].help)
            printf("  --%s (-%s)\n", options[i].long_name, options[i].short_name);
}

static void print_version(void)
{
    printf("ptxas: Heddle %s, which wraps PTX in images for its own driver\nin the place of:\n"
           "Cuda compilation tools, release %s, V%s.0\n",
           hd_version(), toolkit(), toolkit());
}

/* ---- the work ---- */

static unsigned arch_number(const char *name)
{
    const char *digits = strpbrk(name, "0123456789");
    return digits ? (unsigned)strtoul(digits, NULL, 10) : 0;
}

/* The device must have what the PTX is for: a later one of the same kind, or any later one. */
static int check_arch(struct session *s, const struct request *r, const hd_ptx *ptx, unsigned *arch)
{
    hd_ptx_info info;
    const char *name = r->value[ID_ARCH];
    hd_ptx_get_info(ptx, &info);
    *arch = arch_number(name ? name : info.target);
    if (name && strncmp(name, "sm_", 3) != 0 && strncmp(name, "compute_", 8) != 0)
        return fail(s, "`%s` is not a device: for example -arch=sm_90", name);
    if (arch_number(info.target) > *arch)
        return fail(s, "the PTX is for %s, and cannot run on %s", info.target, name);
    return 0;
}

static void describe(const hd_ptx *ptx, unsigned arch)
{
    hd_ptx_function f;
    for (size_t i = 0; hd_ptx_get_function(ptx, i, &f); i++)
        if (f.is_kernel)
            fprintf(stderr, "ptxas info    : kernel %s for sm_%u, kept as PTX of %zu instructions%s%s\n", f.name, arch,
                    f.instructions, f.missing ? "; Heddle cannot run it, because it needs " : "",
                    f.missing ? f.missing : "");
}

static int write_image(struct session *s, const struct request *r, const struct image_text *text)
{
    struct file_writer w;
    const char *path = r->value[ID_OUTPUT] ? r->value[ID_OUTPUT] : "elf.o";
    size_t bytes;
    void *image = image_of_texts(text, 1, &bytes);
    if (!image)
        return fail(s, "out of memory");
    const char *error = file_create(&w, &s->arena, path);
    if (!error)
        error = file_write(&w, image, bytes);
    if (!error)
        error = file_finish(&w);
    free(image);
    return error ? fail(s, "%s", error) : 0;
}

static int assemble(struct session *s, const struct request *r, hd_ptx *ptx, const hd_source *source)
{
    struct image_text text = {(char *)source->text, source->bytes, 0};
    int status = check_arch(s, r, ptx, &text.arch);
    if (status)
        return status;
    const char *products = r->value[ID_FMAD], *registers = r->value[ID_REGISTERS];
    const hd_ptx_code code = {products && strcmp(products, "false") == 0,
                              registers ? (unsigned)strtoul(registers, NULL, 10) : 0};
    if (code.keep_products || code.max_registers) {
        text.text = (char *)hd_ptx_rewrite(ptx, &code, &text.bytes);
        if (!text.text)
            return fail(s, "out of memory");
    }
    if (r->value[ID_VERBOSE])
        describe(ptx, text.arch);
    return write_image(s, r, &text);
}

static int read_input(struct session *s, const struct request *r, struct file_bytes *file)
{
    const char *given = r->value[ID_INPUT];
    if (given) {
        *file = (struct file_bytes){strdup(given), strlen(given)};
        return file->bytes ? 0 : fail(s, "out of memory");
    }
    if (!r->input)
        return fail(s, "the PTX file is missing, as in `ptxas -arch=sm_90 -o kernel.cubin kernel.ptx`");
    const char *error = file_read_ptx(&s->arena, r->input, file);
    return error ? fail(s, "%s", error) : 0;
}

static int read_and_assemble(struct session *s, const struct request *r, const hd_source *source)
{
    hd_ptx *ptx = NULL;
    hd_report *report = NULL;
    hd_result result = hd_ptx_read(source, &ptx, &report);
    bool has_warnings = !result && hd_report_count(report);
    if (result || !r->value[ID_NO_WARNINGS])
        report_print(s, report);
    else
        hd_report_free(report);
    int status = result ? fail(s, "%s", hd_result_string(result))
                 : has_warnings && r->value[ID_WARNING_AS_ERROR]
                     ? fail(s, "there are warnings, which --warning-as-error turns into errors")
                     : assemble(s, r, ptx, source);
    hd_ptx_free(ptx);
    return status;
}

static int run(struct session *s)
{
    struct request r = {0};
    struct file_bytes file = {0};
    int status = read_options(s, &r);
    if (status)
        return status;
    if (r.value[ID_HELP] || r.value[ID_VERSION]) {
        r.value[ID_HELP] ? print_help() : print_version();
        return 0;
    }
    if (r.value[ID_MACHINE] && strcmp(r.value[ID_MACHINE], "64") != 0)
        return fail(s, "only 64 bits are supported, not %s", r.value[ID_MACHINE]);
    status = read_input(s, &r, &file);
    if (!status) {
        hd_source source = {r.input ? r.input : "<string>", file.bytes, strnlen(file.bytes, file.n)};
        status = read_and_assemble(s, &r, &source);
    }
    free(file.bytes);
    return status;
}

int main(int argc, char **argv)
{
    static struct session session;
    jmp_buf oom;
    session.argc = argc;
    session.argv = argv;
    session.arena.on_oom = &oom;
    int status = setjmp(oom) == 0 ? run(&session) : fail(&session, "out of memory");
    session.arena.on_oom = NULL;
    arena_free(&session.arena);
    return status;
}
