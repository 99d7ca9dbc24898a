/* libnvJitLink.so.12 and .13 ("nvJitLink"): PTX, fat binaries, objects and libraries go in; what
 * comes out in the place of machine code is an image of their PTX, which libcuda.so.1 links when it
 * loads it. A header of the toolkit calls versioned names. A library of NVIDIA's that a program
 * loads by its path leads here, too (cuda/process/preload.c).
 */
#include "toolkit/nvjitlink.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/calls.h"
#include "base/handle_table.h"
#include "base/vec.h"
#include "cuda/image/code.h"
#include "cuda/image/object.h"

#define EXPORT __attribute__((visibility("default")))

/* What a caller has is a number of this table. */
enum { LINK = 1 };
static struct handle_table links = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A function's `h`, which is a handle, becomes the link it stands for, or NULL, for as long as the
 * function lasts. */
#define FIND_LINK(h)                                                                                                   \
    IN_CALL;                                                                                                           \
    h = handle_find(&links, h, LINK)

void link_log(struct log *log, const char *format, ...)
{
    va_list args;
    char *line = NULL;
    va_start(args, format);
    int n = vasprintf(&line, format, args);
    va_end(args);
    if (n >= 0 && VEC_RESERVE(log, (size_t)n + 1)) { /* without memory the log lacks the line */
        memcpy(log->at + log->n, line, (size_t)n + 1);
        log->n += (size_t)n;
    }
    if (n >= 0)
        free(line);
}

/* ---- options ---- */

/* How machine code is made, of which there is none here; one that ends in = takes a value. */
static const char *const of_machine_code[] = {
    "-time",
    "-verbose",
    "-lto",
    "-ptx", /* what comes of LTO-IR; of PTX there is an image all the same */
    "-O",
    "-g",
    "-lineinfo",
    "-ftz=",
    "-prec-div=",
    "-prec-sqrt=",
    "-kernels-used=",
    "-variables-used=",
    "-optimize-unused-variables",
    "-Xptxas=",
    "-split-compile=",
    "-split-compile-extended=",
    "-jump-table-density=",
    "-no-cache",
    "-device-stack-protector",
    "-device-stack-protector=",
    "-ptxas-options=",
    "-r",
};

static bool is_of_machine_code(const char *option)
{
    for (size_t i = 0; i < sizeof of_machine_code / sizeof of_machine_code[0]; i++) {
        const char *known = of_machine_code[i];
        size_t n = strlen(known);
        if (strcmp(option, known) == 0 || (known[n - 1] == '=' && strncmp(option, known, n) == 0) ||
            (strcmp(known, "-O") == 0 && option[0] == '-' && option[1] == 'O' && strlen(option) == 3))
            return true;
    }
    return false;
}

static nvJitLinkResult read_option(nvJitLinkHandle h, const char *option)
{
    unsigned sm;
    if (option[0] == '-' && option[1] == '-')
        option++;
    if (sscanf(option, "-arch=sm_%u", &sm) == 1 || sscanf(option, "-arch=compute_%u", &sm) == 1) {
        h->arch = sm;
    } else if (strncmp(option, "-fma=", 5) == 0) {
        h->code.keep_products = option[5] == '0' || strcmp(option + 5, "false") == 0;
    } else if (sscanf(option, "-maxrregcount=%u", &h->code.max_registers) == 1) {
        ; /* it is read */
    } else if (!is_of_machine_code(option)) {
        link_log(&h->errors, "there is no option `%s`\n", option);
        return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
    }
    return NVJITLINK_SUCCESS;
}

static void free_link(void *data)
{
    nvJitLinkHandle h = data;
    link_end_lto(h);
    for (uint32_t i = 0; i < h->n_options; i++)
        free(h->options[i]);
    free(h->options);
    free(h->ptx);
    image_free(&h->inputs);
    free(h->errors.at);
    free(h->infos.at);
    free(h->linked);
    free(h);
}

static nvJitLinkResult read_options(nvJitLinkHandle h, uint32_t n, const char **options)
{
    h->options = calloc(n + 1, sizeof *h->options);
    for (uint32_t i = 0; i < n; i++) {
        if (!h->options || !options[i] || !(h->options[h->n_options++] = strdup(options[i])))
            return NVJITLINK_ERROR_INTERNAL;
        nvJitLinkResult result = read_option(h, options[i]);
        if (result)
            return result;
    }
    if (h->arch)
        return NVJITLINK_SUCCESS;
    link_log(&h->errors, "the device is missing, as in -arch=sm_90\n");
    return NVJITLINK_ERROR_MISSING_ARCH;
}

/* Where there is an error, the handle stays, for the log. */
EXPORT nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle *handle, uint32_t n, const char **options)
{
    if (!handle || (n && !options))
        return NVJITLINK_ERROR_INVALID_INPUT;
    nvJitLinkHandle h = calloc(1, sizeof *h);
    if (!h)
        return NVJITLINK_ERROR_INTERNAL;
    nvJitLinkResult result = read_options(h, n, options);
    *handle = handle_add(&links, LINK, h, NULL);
    if (!*handle)
        free_link(h);
    return *handle ? result : NVJITLINK_ERROR_INTERNAL;
}

EXPORT nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle *handle)
{
    IN_CALL;
    if (!handle)
        return NVJITLINK_ERROR_INVALID_INPUT;
    nvJitLinkHandle h = handle_take(&links, *handle, LINK);
    if (!h && *handle)
        return NVJITLINK_ERROR_INVALID_INPUT;
    if (h)
        call_later(free_link, h);
    *handle = NULL;
    return NVJITLINK_SUCCESS;
}

/* ---- inputs ---- */

/* Verifies it, and writes into it what the options say of its code. */
static nvJitLinkResult check_text(nvJitLinkHandle h, struct image_text *text, const char *name)
{
    hd_ptx *ptx = NULL;
    hd_report *report = NULL;
    hd_source source = {name, text->text, text->bytes};
    hd_result result = hd_ptx_read(&source, &ptx, &report);
    if (report && hd_report_count(report))
        link_log(result ? &h->errors : &h->infos, "%s", hd_report_text(report));
    hd_report_free(report);
    if (!result && !image_set_code(text, ptx, &h->code))
        result = HD_ERROR_OUT_OF_MEMORY;
    hd_ptx_free(ptx);
    return result == HD_SUCCESS             ? NVJITLINK_SUCCESS
           : result == HD_ERROR_INVALID_PTX ? NVJITLINK_ERROR_PTX_COMPILE
                                            : NVJITLINK_ERROR_INTERNAL;
}

static nvJitLinkResult add_texts(nvJitLinkHandle h, struct image *image, const char *name)
{
    size_t n = h->inputs.texts.n;
    enum image_result taken = image_take(&h->inputs, image);
    if (taken)
        link_log(&h->errors, "%s: %s\n", name, h->inputs.why);
    if (taken)
        return taken == IMAGE_NO_MEMORY ? NVJITLINK_ERROR_INTERNAL : NVJITLINK_ERROR_INVALID_INPUT;
    nvJitLinkResult result = NVJITLINK_SUCCESS;
    for (; n < h->inputs.texts.n && !result; n++)
        result = check_text(h, &h->inputs.texts.at[n], name);
    return result;
}

static nvJitLinkResult add_data(nvJitLinkHandle h, nvJitLinkInputType type, const void *data, size_t bytes,
                                const char *name)
{
    struct image image;
    if (!h || !data || !bytes)
        return NVJITLINK_ERROR_INVALID_INPUT;
    name = name ? name : "<unnamed>";
    if (type == NVJITLINK_INPUT_LTOIR || type == NVJITLINK_INPUT_INDEX)
        return link_add_lto(h, type, data, bytes, name);
    bool exact = type == NVJITLINK_INPUT_CUBIN || type == NVJITLINK_INPUT_PTX || type == NVJITLINK_INPUT_FATBIN;
    enum image_result read = (exact ? image_read : object_read)(data, bytes, h->arch, &image);
    if (read)
        link_log(&h->errors, "%s: %s\n", name, image.why);
    nvJitLinkResult result = read == IMAGE_OK              ? add_texts(h, &image, name)
                             : read == IMAGE_NO_MEMORY     ? NVJITLINK_ERROR_INTERNAL
                             : type == NVJITLINK_INPUT_PTX ? NVJITLINK_ERROR_PTX_COMPILE
                                                           : NVJITLINK_ERROR_UNRECOGNIZED_INPUT;
    image_free(&image);
    return result;
}

EXPORT nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle h, nvJitLinkInputType type, const void *data, size_t bytes,
                                        const char *name)
{
    FIND_LINK(h);
    return add_data(h, type, data, bytes, name);
}

EXPORT nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle h, nvJitLinkInputType type, const char *path)
{
    FIND_LINK(h);
    size_t n = 0;
    void *data = h && path ? image_file(path, &n) : NULL;
    if (!data) {
        if (h)
            link_log(&h->errors, "%s cannot be read\n", path ? path : "a file without a name");
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    nvJitLinkResult result = add_data(h, type, data, n, path);
    free(data);
    return result;
}

/* ---- what comes out ---- */

/* The PTX of LTO-IR is one more input. */
static nvJitLinkResult finish_lto(nvJitLinkHandle h)
{
    struct image image;
    nvJitLinkResult result = link_finish_lto(h);
    if (result)
        return result;
    enum image_result read = image_read(h->ptx, SIZE_MAX, h->arch, &image);
    result = read ? NVJITLINK_ERROR_INTERNAL : add_texts(h, &image, "LTO-IR");
    image_free(&image);
    return result;
}

EXPORT nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle h)
{
    FIND_LINK(h);
    if (!h || h->linked)
        return NVJITLINK_ERROR_INVALID_INPUT;
    nvJitLinkResult result = h->theirs ? finish_lto(h) : NVJITLINK_SUCCESS;
    if (result)
        return result;
    if (!h->inputs.texts.n) {
        link_log(&h->errors, "there is nothing to link\n");
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    h->linked = image_of_texts(h->inputs.texts.at, h->inputs.texts.n, &h->bytes);
    return h->linked ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_INTERNAL;
}

EXPORT nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle h, size_t *bytes)
{
    FIND_LINK(h);
    if (!h || !h->linked || !bytes)
        return NVJITLINK_ERROR_INVALID_INPUT;
    *bytes = h->bytes;
    return NVJITLINK_SUCCESS;
}

EXPORT nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle h, void *cubin)
{
    FIND_LINK(h);
    if (!h || !h->linked || !cubin)
        return NVJITLINK_ERROR_INVALID_INPUT;
    memcpy(cubin, h->linked, h->bytes);
    return NVJITLINK_SUCCESS;
}

/* PTX comes out where LTO-IR was linked, says the documentation. */
static bool has_ptx(nvJitLinkHandle h)
{
    if (h && !h->ptx)
        link_log(&h->errors, "nvJitLink returns linked PTX only if the inputs are LTO-IR\n");
    return h && h->ptx;
}

EXPORT nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle h, size_t *bytes)
{
    FIND_LINK(h);
    if (!has_ptx(h) || !bytes)
        return NVJITLINK_ERROR_INVALID_INPUT;
    *bytes = strlen(h->ptx) + 1;
    return NVJITLINK_SUCCESS;
}

EXPORT nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle h, char *ptx)
{
    FIND_LINK(h);
    if (!has_ptx(h) || !ptx)
        return NVJITLINK_ERROR_INVALID_INPUT;
    memcpy(ptx, h->ptx, strlen(h->ptx) + 1);
    return NVJITLINK_SUCCESS;
}

/* LTO-IR that has been linked, for a later link: everything is linked at once here. */
static nvJitLinkResult no_ir(nvJitLinkHandle h)
{
    if (h)
        link_log(&h->errors, "Heddle does not return linked LTO-IR\n");
    return NVJITLINK_ERROR_INVALID_INPUT;
}

EXPORT nvJitLinkResult nvJitLinkGetLinkedLTOIRSize(nvJitLinkHandle h, size_t *bytes)
{
    FIND_LINK(h);
    (void)bytes;
    return no_ir(h);
}

EXPORT nvJitLinkResult nvJitLinkGetLinkedLTOIR(nvJitLinkHandle h, void *ir)
{
    FIND_LINK(h);
    (void)ir;
    return no_ir(h);
}

/* Sizes count the zero at the end. */
static nvJitLinkResult log_size(nvJitLinkHandle h, const struct log *log, size_t *bytes)
{
    if (!h || !bytes)
        return NVJITLINK_ERROR_INVALID_INPUT;
    *bytes = log->n + 1;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult log_text(nvJitLinkHandle h, const struct log *log, char *text)
{
    if (!h || !text)
        return NVJITLINK_ERROR_INVALID_INPUT;
    memcpy(text, log->at ? log->at : "", log->n + 1);
    return NVJITLINK_SUCCESS;
}

EXPORT nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle h, size_t *bytes)
{
    FIND_LINK(h);
    return log_size(h, &h->errors, bytes);
}

EXPORT nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle h, char *text)
{
    FIND_LINK(h);
    return log_text(h, &h->errors, text);
}

EXPORT nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle h, size_t *bytes)
{
    FIND_LINK(h);
    return log_size(h, &h->infos, bytes);
}

EXPORT nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle h, char *text)
{
    FIND_LINK(h);
    return log_text(h, &h->infos, text);
}

/* The minor version: of the last toolkit of CUDA 12, the first of 13. */
EXPORT nvJitLinkResult nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    if (!major || !minor)
        return NVJITLINK_ERROR_INVALID_INPUT;
    *major = NVJITLINK_MAJOR;
    *minor = NVJITLINK_MAJOR == 12 ? 9 : 0;
    return NVJITLINK_SUCCESS;
}

/* ---- versioned names ---- */

#define ALIAS(name, major, minor) ALIAS_(name, major, minor)
#define ALIAS_(name, major, minor)                                                                                     \
    EXPORT extern __typeof__(nvJitLink##name) __nvJitLink##name##_##major##_##minor                                    \
        __attribute__((alias("nvJitLink" #name)));
#define NVJITLINK(name)                                                                                                \
    ALIAS(name, NVJITLINK_MAJOR, 0)                                                                                    \
    ALIAS(name, NVJITLINK_MAJOR, 1)                                                                                    \
    ALIAS(name, NVJITLINK_MAJOR, 2)                                                                                    \
    ALIAS(name, NVJITLINK_MAJOR, 3)                                                                                    \
    ALIAS(name, NVJITLINK_MAJOR, 4)                                                                                    \
    ALIAS(name, NVJITLINK_MAJOR, 5)                                                                                    \
    ALIAS(name, NVJITLINK_MAJOR, 6)                                                                                    \
    ALIAS(name, NVJITLINK_MAJOR, 7)                                                                                    \
    ALIAS(name, NVJITLINK_MAJOR, 8)                                                                                    \
    ALIAS(name, NVJITLINK_MAJOR, 9)
#include "cuda/nvjitlink.def"
