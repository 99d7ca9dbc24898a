/* libnvrtc.so.12 and .13 ("NVRTC", NVIDIA's documentation): CUDA C++ in strings goes in, and PTX
 * comes out; asked for machine code, an image of the PTX. `heddle cc` compiles, by clang 19, with
 * Heddle's own headers. `heddle run` has programs find this library where there is no NVRTC of
 * NVIDIA's.
 *
 * Memory that runs out jumps to the function that was called, by the program's arena.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/calls.h"
#include "base/handle_table.h"
#include "cuda/image/fatbin.h"
#include "toolkit/nvrtc.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- the library ---- */

EXPORT const char *nvrtcGetErrorString(nvrtcResult result)
{
    static const char *const names[] = {
        "NVRTC_SUCCESS",
        "NVRTC_ERROR_OUT_OF_MEMORY",
        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "NVRTC_ERROR_INVALID_INPUT",
        "NVRTC_ERROR_INVALID_PROGRAM",
        "NVRTC_ERROR_INVALID_OPTION",
        "NVRTC_ERROR_COMPILATION",
        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        "NVRTC_ERROR_INTERNAL_ERROR",
        "NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
        "NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED",
        "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED",
        "NVRTC_ERROR_PCH_CREATE",
        "NVRTC_ERROR_CANCELLED",
        "NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED",
    };
    return (unsigned)result < sizeof names / sizeof names[0] ? names[result] : "NVRTC_ERROR unknown";
}

/* The minor version: of the last toolkit of CUDA 12, the first of 13. */
EXPORT nvrtcResult nvrtcVersion(int *major, int *minor)
{
    if (!major || !minor)
        return NVRTC_ERROR_INVALID_INPUT;
    *major = NVRTC_MAJOR;
    *minor = NVRTC_MAJOR == 12 ? 9 : 0;
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetNumSupportedArchs(int *n)
{
    size_t count;
    if (!n)
        return NVRTC_ERROR_INVALID_INPUT;
    nvrtc_archs(&count);
    *n = (int)count;
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetSupportedArchs(int *archs)
{
    size_t n;
    const unsigned *all = nvrtc_archs(&n);
    if (!archs)
        return NVRTC_ERROR_INVALID_INPUT;
    for (size_t i = 0; i < n; i++)
        archs[i] = (int)all[i];
    return NVRTC_SUCCESS;
}

/* ---- programs ---- */

/* What a caller has is a number of this table. */
enum { PROGRAM = 1 };
static struct handle_table programs = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A function's `p`, which is a handle, becomes the program it stands for, or NULL, for as long as
 * the function lasts. */
#define FIND_PROGRAM(p)                                                                                                \
    IN_CALL;                                                                                                           \
    p = handle_find(&programs, p, PROGRAM)

static void free_program(void *data)
{
    nvrtcProgram p = data;
    struct arena arena = p->arena; /* the program is in there */
    free(p->image);
    arena_free(&arena);
}

EXPORT nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    IN_CALL;
    nvrtcProgram p = program ? handle_take(&programs, *program, PROGRAM) : NULL;
    if (!p)
        return NVRTC_ERROR_INVALID_PROGRAM;
    call_later(free_program, p);
    *program = NULL;
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int n_headers,
                                      const char *const *headers, const char *const *header_names)
{
    jmp_buf oom;
    struct arena arena = {.on_oom = &oom};
    if (!program || !source || n_headers < 0 || (n_headers && (!headers || !header_names)))
        return NVRTC_ERROR_INVALID_INPUT;
    if (setjmp(oom)) {
        arena_free(&arena);
        return NVRTC_ERROR_OUT_OF_MEMORY;
    }
    nvrtcProgram p = ARENA_NEW(&arena, struct _nvrtcProgram);
    p->source = arena_strdup(&arena, source);
    p->name = arena_strdup(&arena, name && *name ? name : "default_program");
    for (int i = 0; i < n_headers; i++)
        if (headers[i] && header_names[i])
            *VEC_PUSH(&arena, &p->headers) =
                (struct nvrtc_header){arena_strdup(&arena, header_names[i]), arena_strdup(&arena, headers[i])};
    arena.on_oom = NULL;
    p->arena = arena;
    *program = handle_add(&programs, PROGRAM, p, NULL);
    if (!*program)
        free_program(p);
    return *program ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
}

/* ---- compiling ---- */

static nvrtcResult compile(nvrtcProgram p, int n, const char *const *words)
{
    struct nvrtc_options o;
    const char *wrong = nvrtc_read_options(p, n, words, &o);
    if (wrong) {
        p->log = arena_printf(&p->arena, "nvrtc: error: %s\n", wrong);
        return NVRTC_ERROR_INVALID_OPTION;
    }
    nvrtcResult result = nvrtc_compile(p, &o);
    if (o.syntax_only)
        p->ptx = NULL;
    if (!result && p->ptx && o.real) {
        struct image_text text = {(char *)p->ptx, p->ptx_bytes, o.arch};
        p->image = image_of_texts(&text, 1, &p->image_bytes);
        result = p->image ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
    }
    return result;
}

EXPORT nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int n, const char *const *options)
{
    FIND_PROGRAM(p);
    jmp_buf oom;
    if (!p)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (n < 0 || (n && !options))
        return NVRTC_ERROR_INVALID_INPUT;
    free(p->image); /* it may be compiled again */
    p->image = NULL;
    p->ptx = p->log = NULL;
    p->compiled = true;
    p->arena.on_oom = &oom;
    nvrtcResult result = setjmp(oom) == 0 ? compile(p, n, options) : NVRTC_ERROR_OUT_OF_MEMORY;
    p->arena.on_oom = NULL;
    if (result)
        p->ptx = NULL;
    return result;
}

/* `bytes` at `from`, or how many they are. */
static nvrtcResult give_size(nvrtcProgram p, bool there, size_t bytes, size_t *to)
{
    if (!p)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!to)
        return NVRTC_ERROR_INVALID_INPUT;
    *to = there ? bytes : 0;
    return there ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_PROGRAM;
}

static nvrtcResult give(nvrtcProgram p, const void *from, size_t bytes, void *to)
{
    if (!p || !from)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!to)
        return NVRTC_ERROR_INVALID_INPUT;
    memcpy(to, from, bytes);
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetPTXSize(nvrtcProgram p, size_t *bytes)
{
    FIND_PROGRAM(p);
    return give_size(p, p && p->ptx, p ? p->ptx_bytes + 1 : 0, bytes);
}

EXPORT nvrtcResult nvrtcGetPTX(nvrtcProgram p, char *ptx)
{
    FIND_PROGRAM(p);
    return give(p, p ? p->ptx : NULL, p ? p->ptx_bytes + 1 : 0, ptx);
}

/* 0 bytes where the program was compiled for a virtual architecture, says the documentation. */
EXPORT nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t *bytes)
{
    FIND_PROGRAM(p);
    return give_size(p, p && p->ptx, p && p->image ? p->image_bytes : 0, bytes);
}

EXPORT nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char *cubin)
{
    FIND_PROGRAM(p);
    return give(p, p ? p->image : NULL, p ? p->image_bytes : 0, cubin);
}

EXPORT nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram p, size_t *bytes)
{
    FIND_PROGRAM(p);
    return give_size(p, p, p && p->log ? strlen(p->log) + 1 : 1, bytes);
}

EXPORT nvrtcResult nvrtcGetProgramLog(nvrtcProgram p, char *log)
{
    FIND_PROGRAM(p);
    return give(p, p && p->log ? p->log : "", p && p->log ? strlen(p->log) + 1 : 1, log);
}

EXPORT nvrtcResult nvrtcSetFlowCallback(nvrtcProgram p, int (*callback)(void *, void *), void *payload)
{
    FIND_PROGRAM(p);
    if (!p)
        return NVRTC_ERROR_INVALID_PROGRAM;
    p->callback = callback;
    p->payload = payload;
    return NVRTC_SUCCESS;
}

/* ---- names ---- */

EXPORT nvrtcResult nvrtcAddNameExpression(nvrtcProgram p, const char *expression)
{
    FIND_PROGRAM(p);
    jmp_buf oom;
    if (!p)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!expression)
        return NVRTC_ERROR_INVALID_INPUT;
    if (p->compiled)
        return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    p->arena.on_oom = &oom;
    bool ok = setjmp(oom) == 0;
    if (ok)
        *VEC_PUSH(&p->arena, &p->names) = (struct nvrtc_name){arena_strdup(&p->arena, expression), NULL};
    p->arena.on_oom = NULL;
    return ok ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
}

EXPORT nvrtcResult nvrtcGetLoweredName(nvrtcProgram p, const char *expression, const char **name)
{
    FIND_PROGRAM(p);
    if (!p)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!expression || !name)
        return NVRTC_ERROR_INVALID_INPUT;
    if (!p->compiled || !p->ptx)
        return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    for (uint32_t i = 0; i < p->names.n; i++)
        if (strcmp(p->names.at[i].expression, expression) == 0) {
            *name = p->names.at[i].lowered;
            return NVRTC_SUCCESS;
        }
    return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

/* ---- precompiled headers, of which there are none ---- */

static size_t heap_bytes;

EXPORT nvrtcResult nvrtcGetPCHHeapSize(size_t *bytes)
{
    if (!bytes)
        return NVRTC_ERROR_INVALID_INPUT;
    *bytes = __atomic_load_n(&heap_bytes, __ATOMIC_RELAXED);
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcSetPCHHeapSize(size_t bytes)
{
    __atomic_store_n(&heap_bytes, bytes, __ATOMIC_RELAXED);
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetPCHCreateStatus(nvrtcProgram p)
{
    FIND_PROGRAM(p);
    return p ? NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED : NVRTC_ERROR_INVALID_PROGRAM;
}

EXPORT nvrtcResult nvrtcGetPCHHeapSizeRequired(nvrtcProgram p, size_t *bytes)
{
    FIND_PROGRAM(p);
    return give_size(p, p, 0, bytes);
}

/* ---- what Heddle does not make: entries of nvrtc.def with the state `no` ---- */

static nvrtcResult refuse(nvrtcProgram p, const char *function)
{
    FIND_PROGRAM(p);
    jmp_buf oom;
    if (!p)
        return NVRTC_ERROR_INVALID_PROGRAM;
    p->arena.on_oom = &oom;
    if (setjmp(oom) == 0)
        p->log = arena_printf(&p->arena, "%s%s: Heddle makes only PTX\n", p->log ? p->log : "", function);
    p->arena.on_oom = NULL;
    return NVRTC_ERROR_INVALID_PROGRAM;
}

#define STATE_done(name)
#define STATE_no(name)                                                                                                 \
    EXPORT nvrtcResult missing_##name(nvrtcProgram p) __asm__("nvrtc" #name);                                          \
    nvrtcResult missing_##name(nvrtcProgram p)                                                                         \
    {                                                                                                                  \
        return refuse(p, "nvrtc" #name);                                                                               \
    }
#if NVRTC_MAJOR == 12
#define LAST_12(name, state) STATE_##state(name)
#else
#define LAST_12(name, state)
#endif
#define LAST_13(name, state)            STATE_##state(name)
#define NVRTC(name, first, last, state) LAST_##last(name, state)
#include "toolkit/nvrtc.def"
