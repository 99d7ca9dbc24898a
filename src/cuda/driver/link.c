/* Linking at run time ("CUDA Driver API", 6.10): makes an image of Heddle's from PTX, for
 * cuModuleLoadData.
 */
#include "cuda/image/object.h"
#include "cuda/state/contexts.h"
#include "cuda/state/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUlinkState_st {
    CUlinkState handle;
    struct jit_options jit;
    struct image inputs;
    void *image; /* made by cuLinkComplete */
};

CU_API CUresult cuLinkCreate_v2(unsigned n, CUjit_option *options, void **values, CUlinkState *state)
{
    CUcontext c;
    struct jit_options jit;
    TRY(context_current(&c));
    NEED(state);
    TRY(jit_read(&jit, n, options, values));
    CUlinkState s = calloc(1, sizeof *s);
    if (!s)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = handle_give(HANDLE_LINK, s, NULL, &s->handle);
    if (r) {
        free(s);
        return r;
    }
    s->jit = jit;
    if (jit.info && jit.info_bytes)
        jit.info[0] = 0;
    if (jit.error && jit.error_bytes)
        jit.error[0] = 0;
    *state = s->handle;
    return CUDA_SUCCESS;
}

CU_API CUresult cuLinkCreate(unsigned n, CUjit_option *options, void **values, CUlinkState *state)
{
    return cuLinkCreate_v2(n, options, values, state);
}

static struct CUlinkState_st *link_of(CUlinkState handle)
{
    return record_of(handle, HANDLE_LINK);
}

CU_API CUresult cuLinkAddData_v2(CUlinkState handle, CUjitInputType type, void *data, size_t size, const char *name,
                                 unsigned n, CUjit_option *options, void **values)
{
    CUcontext c;
    struct image image;
    (void)n;
    (void)options; /* options about the machine code of one input */
    (void)values;
    TRY(context_current(&c));
    struct CUlinkState_st *state = link_of(handle);
    if (!state)
        return CUDA_ERROR_INVALID_HANDLE;
    NEED(data && !state->image);
    if (type == CU_JIT_INPUT_NVVM)
        return api_not_supported("cuLinkAddData of NVVM IR (it links PTX)");
    bool object = type == CU_JIT_INPUT_OBJECT || type == CU_JIT_INPUT_LIBRARY;
    enum image_result read = (object ? object_read : image_read)(data, size, device_arch(c->device), &image);
    enum image_result r = read ? read : image_take(&state->inputs, &image);
    image_free(&image);
    if (r) {
        char text[640];
        snprintf(text, sizeof text, "%s: %s\n", name ? name : "<unnamed>", read ? image.why : state->inputs.why);
        jit_log(&state->jit, true, text);
        log_line(LOG_ERROR, "%s", text);
    }
    return from_image(r);
}

CU_API CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                              unsigned n, CUjit_option *options, void **values)
{
    return cuLinkAddData_v2(state, type, data, size, name, n, options, values);
}

CU_API CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned n,
                                 CUjit_option *options, void **values)
{
    size_t bytes;
    if (!link_of(state))
        return CUDA_ERROR_INVALID_HANDLE;
    NEED(path);
    void *data = image_file(path, &bytes);
    if (!data)
        return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult r = cuLinkAddData_v2(state, type, data, bytes, path, n, options, values);
    free(data);
    return r;
}

CU_API CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned n,
                              CUjit_option *options, void **values)
{
    return cuLinkAddFile_v2(state, type, path, n, options, values);
}

/* Links once to find errors. The image contains the texts, which are linked again when it is
   loaded. */
CU_API CUresult cuLinkComplete(CUlinkState handle, void **cubin, size_t *size)
{
    CUcontext c;
    struct CUmod_st *m;
    size_t bytes;
    TRY(context_current(&c));
    struct CUlinkState_st *state = link_of(handle);
    if (!state)
        return CUDA_ERROR_INVALID_HANDLE;
    const struct image *inputs = &state->inputs;
    NEED(inputs->texts.n && cubin);
    TRY(jit_limit_registers(&state->jit, inputs->texts.at, inputs->texts.n));
    free(state->image);
    state->image = image_of_texts(inputs->texts.at, inputs->texts.n, &bytes);
    if (!state->image)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = module_new(c, state->image, bytes, "link", &state->jit, &m);
    jit_done(&state->jit);
    if (r)
        return r;
    module_drop(m);
    *cubin = state->image;
    if (size)
        *size = bytes;
    return CUDA_SUCCESS;
}

static void free_link(void *record)
{
    struct CUlinkState_st *state = record;
    image_free(&state->inputs);
    free(state->image);
    free(state);
}

CU_API CUresult cuLinkDestroy(CUlinkState handle)
{
    struct CUlinkState_st *state = record_take(handle, HANDLE_LINK);
    if (!state)
        return CUDA_ERROR_INVALID_HANDLE;
    call_later(free_link, state);
    return CUDA_SUCCESS;
}
