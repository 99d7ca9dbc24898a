/* A .cu file is compiled twice by clang at the same time, for the device to PTX and for the host.
 * The host's compiler needs the fat binary at its very end; it reads it from its stdin, where we
 * write it as soon as the PTX is there.
 */
#include "cc/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cc/commands.h"

enum cc_language cc_language_of(struct job *j, const char *input)
{
    const char *given = j->o.value[CC_LANGUAGE], *ending = file_extension(input);
    if (given)
        return strcmp(given, "cu") == 0 ? LANGUAGE_CU : strcmp(given, "c") == 0 ? LANGUAGE_C : LANGUAGE_CPP;
    if (strcmp(ending, ".cu") == 0)
        return LANGUAGE_CU;
    if (strcmp(ending, ".c") == 0)
        return LANGUAGE_C;
    if (strcmp(ending, ".ptx") == 0)
        return LANGUAGE_PTX;
    if (strcmp(ending, ".cc") == 0 || strcmp(ending, ".cpp") == 0 || strcmp(ending, ".cxx") == 0 ||
        strcmp(ending, ".C") == 0)
        return LANGUAGE_CPP;
    return LANGUAGE_LINK;
}

static bool has_same_lambdas(const struct cc_captures *a, const struct cc_captures *b)
{
    uint32_t i = 0;
    while (i < a->lambdas.n && i < b->lambdas.n && str_eq(a->lambdas.at[i], b->lambdas.at[i]))
        i++;
    return i == a->lambdas.n && i == b->lambdas.n;
}

/* Finds in j->captures what nvcc captures by `=` where that may be a constant, by clang's dump of
 * the text. That takes as long as the headers do: one side is asked, where the other has the same
 * lambdas. Of a text that is wrong nothing may be dumped: its compilation says why. */
static void find_captures(struct job *j, const char *input, const char *arch, struct str text)
{
    struct cc_captures captures;
    struct str marked = cc_mark_closures(text, &captures, j->arena);
    if (has_same_lambdas(&captures, &j->captures))
        return;
    struct process p;
    const char *path = job_temporary(j, input, ".marked.ii"), *out = "", *err;
    cc_words c = cc_dump_command(j, input, arch, path);
    j->captures = captures;
    if (marked.p && job_write(j, path, marked.p, marked.n) && job_start(j, &p, &c, PROCESS_OUTPUT)) {
        process_finish(&p, j->arena, &out, &err);
        cc_read_captures(marked, str_of(out), &j->captures, j->arena);
    }
}

/* Preprocesses a source for a device, or for the host where `arch` is NULL, and lays out its
 * closures (closures.c). *path is the text that the compilation reads then, or NULL where the
 * source has no such closures. `output`: what is to be made, for a rule for make. */
static bool lay_out(struct job *j, const char *input, const char *arch, const char *output, const char **path)
{
    struct file_bytes file = {0};
    const char *ending = arch ? arena_printf(j->arena, ".sm_%s.ii", arch) : ".host.ii";
    const char *to = job_temporary(j, input, ending);
    cc_words c = cc_preprocess_command(j, input, arch, output, to);
    if (!job_run(j, &c))
        return false;
    const char *error = file_read(j->arena, to, 0, &file);
    if (error)
        return cc_failure(j, "%s", error) == 0;
    struct str text = {file.bytes, file.n};
    find_captures(j, input, arch, text);
    text = cc_lay_out_closures(text, &j->captures, j->arena);
    free(file.bytes);
    *path = text.p ? to : NULL;
    return !text.p || job_write(j, to, text.p, text.n);
}

/* Kernels with __cluster_dims__ get their directives, which takes another look at a file that has
 * some. */
static bool add_clusters(struct job *j, const char *input, const char *arch, struct str *ptx)
{
    struct file_bytes ir = {0};
    const char *path = job_temporary(j, input, arena_printf(j->arena, ".sm_%s.ll", arch));
    cc_words c = cc_device_command(j, input, arch, path);
    ADD(&c, "-emit-llvm");
    ADD(&c, "-Xclang");
    ADD(&c, "-disable-llvm-passes");
    if (!job_run(j, &c))
        return false;
    const char *error = file_read(j->arena, path, 0, &ir);
    if (error)
        return cc_failure(j, "%s", error) == 0;
    *ptx = cc_add_clusters(*ptx, (struct str){ir.bytes, ir.n}, j->arena);
    free(ir.bytes);
    return true;
}

/* clang 19 writes version 8.5. Inline PTX may use what version 9.0 has, as with CUDA 13's nvcc,
 * whose oldest target is sm_75. Both versions have equally many characters. */
static bool raise_version(char *ptx, size_t n, const char *arch)
{
    static const char clangs[] = "\n.version 8.5\n", cuda_13[] = "\n.version 9.0\n";
    char *at = atoi(arch) < 75 ? NULL : memmem(ptx, n, clangs, sizeof clangs - 1);
    if (at)
        memcpy(at, cuda_13, sizeof cuda_13 - 1);
    return at != NULL;
}

/* What clang 19 leaves out of the PTX that it writes. */
static bool mend_ptx(struct job *j, const char *input, const char *arch, const char *path)
{
    struct file_bytes file = {0};
    const char *error = file_read(j->arena, path, 0, &file);
    if (error)
        return cc_failure(j, "%s", error) == 0;
    bool is_raised = raise_version(file.bytes, file.n, arch);
    struct str ptx = {file.bytes, file.n};
    bool ok = !cc_has_clusters(ptx) || add_clusters(j, input, arch, &ptx);
    if (ok && j->o.rdc)
        ptx = cc_name_statics(ptx, j->arena);
    if (ok && j->o.given[CC_REGISTERS])
        ptx = cc_limit_registers(ptx, (unsigned)atoi(j->o.value[CC_REGISTERS]), j->arena);
    if (ok && (is_raised || ptx.p != file.bytes))
        ok = job_write(j, path, ptx.p, ptx.n);
    free(file.bytes);
    return ok;
}

bool cc_compile_device(struct job *j, const char *input, const char *arch, const char *output)
{
    if (j->may_have_closures && !lay_out(j, input, arch, NULL, &j->laid_out_device))
        return false;
    cc_words c = cc_device_command(j, input, arch, output);
    return job_run(j, &c) && (j->o.given[CC_DRY_RUN] || mend_ptx(j, input, arch, output));
}

/* What clang does not know, and nvcc's ptxas would say: too much shared memory, and what Heddle
 * refuses. */
static bool check_ptx(struct job *j, const char *path, const struct file_bytes *file)
{
    const char *slash = strrchr(path, '/');
    hd_source source = {slash ? slash + 1 : path, file->bytes, file->n};
    hd_ptx *ptx = NULL;
    hd_report *report;
    hd_result r = hd_ptx_read(&source, &ptx, &report);
    if (r && !hd_report_count(report))
        cc_failure(j, "%s", hd_result_string(r));
    else if (r || !j->o.given[CC_WITHOUT_WARNINGS])
        fputs(hd_report_text(report), stderr);
    hd_report_free(report);
    if (!r && cc_wants_usage(j))
        cc_print_usage(ptx, &source);
    hd_ptx_free(ptx);
    return r == HD_SUCCESS;
}

bool cc_read_device(struct job *j, const char *input, const char *arch, struct file_bytes *file)
{
    const char *path = input;
    if (cc_language_of(j, input) == LANGUAGE_CU) {
        path = job_temporary(j, input, j->o.archs.n == 1 ? ".ptx" : arena_printf(j->arena, ".sm_%s.ptx", arch));
        if (!cc_compile_device(j, input, arch, path))
            return false;
    }
    if (j->o.given[CC_DRY_RUN])
        return true;
    const char *error = file_read(j->arena, path, 0, file);
    if (error)
        return cc_failure(j, "%s", error) == 0;
    return check_ptx(j, path, file);
}

void *cc_make_fatbin(struct job *j, const char *input, size_t *bytes)
{
    struct cc_ptx *ptx = ARENA_ARRAY(j->arena, struct cc_ptx, j->o.archs.n);
    bool ok = true;
    uint32_t done = 0;
    for (; done < j->o.archs.n && ok; done++) {
        const char *arch = j->o.archs.at[done];
        struct file_bytes file = {0};
        ok = cc_read_device(j, input, arch, &file);
        ptx[done] = (struct cc_ptx){arch, file.bytes, file.n};
    }
    void *fatbin = NULL;
    if (ok && !j->o.given[CC_DRY_RUN]) {
        fatbin = cc_fatbin(ptx, done, bytes);
        if (!fatbin)
            cc_failure(j, "out of memory");
    }
    for (uint32_t i = 0; i < done; i++)
        free((char *)ptx[i].text);
    return fatbin;
}

static bool feed(int to, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t wrote = write(to, bytes, n);
        if (wrote < 0 && errno != EINTR)
            return false;
        bytes += wrote > 0 ? wrote : 0;
        n -= wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

static void end_names(struct file_bytes *object, const char *head, const char *unit)
{
    char *end = object->bytes + object->n;
    for (char *at = object->bytes; (at = memmem(at, (size_t)(end - at), head, strlen(head)));) {
        at += strlen(head);
        size_t digits = strspn(at, "0123456789abcdef");
        if (digits >= strlen(unit))
            memcpy(at + digits - strlen(unit), unit, strlen(unit));
    }
}

/* clang names the wrapper of an object's fat binary by the input's path as it is written. Two files
 * `m.cu` of two folders then have the same name, as has one that is compiled with two options -D.
 * Here the last digits become those of the unit. */
static bool name_unit(struct job *j, const char *input, const char *output)
{
    struct file_bytes object = {0};
    const char *error = file_read(j->arena, output, 0, &object), *unit = cc_unit(j, input);
    if (error)
        return cc_failure(j, "%s", error) == 0;
    end_names(&object, "__fatbinwrap__nv_", unit);
    end_names(&object, "__cudaRegisterLinkedBinary__nv_", unit);
    bool ok = job_write(j, output, object.bytes, object.n);
    free(object.bytes);
    return ok;
}

bool cc_compile_cuda(struct job *j, const char *input, const char *output)
{
    struct process host;
    size_t bytes = 0;
    if (j->may_have_closures && !lay_out(j, input, NULL, output, &j->laid_out_host))
        return false;
    j->may_have_closures = j->laid_out_host != NULL; /* both sides have the same */
    cc_words c = cc_host_command(j, input, output);
    if (j->o.given[CC_DRY_RUN]) {
        cc_make_fatbin(j, input, &bytes);
        job_show(j, &c, "(fat binary of the PTX) | ");
        return true;
    }
    if (!job_start(j, &host, &c, PROCESS_INPUT))
        return false;
    void *fatbin = cc_make_fatbin(j, input, &bytes);
    bool ok = fatbin != NULL;
    if (ok && j->o.given[CC_KEEP])
        ok = job_write(j, job_temporary(j, input, ".fatbin"), fatbin, bytes);
    if (ok)
        feed(host.in, fatbin, bytes); /* a compiler that has ended says why */
    int status = job_finish(j, &host);
    free(fatbin);
    if (!ok && status == 0 && !file_is_special(output))
        unlink(output); /* it has no device code */
    ok = ok && status == 0;
    if (ok && j->o.rdc && !file_is_special(output))
        ok = name_unit(j, input, output);
    return ok && cc_mend_rule(j, input, output);
}
