/* Modules and libraries ("CUDA Driver API", 6.10 to 6.12). */
#include "cuda/state/capture.h"
#include "cuda/state/companion.h"
#include "cuda/state/module.h"

#include "cuda/process/printed.h"
#include "cuda/state/contexts.h"
#include "cuda/state/devices.h"
#include "cuda/state/machines.h"

#include <stdio.h>

/* ---- modules ---- */

static CUresult load(CUmodule *module, const void *image, const char *path, unsigned n, CUjit_option *options,
                     void **values)
{
    CUcontext c;
    struct jit_options jit;
    char name[64];
    struct CUmod_st *m = NULL;
    TRY(context_current(&c));
    NEED(module && (image || path));
    TRY(jit_read(&jit, n, options, values));
    if (jit.info && jit.info_bytes)
        jit.info[0] = 0;
    if (jit.error && jit.error_bytes)
        jit.error[0] = 0;
    snprintf(name, sizeof name, "module %llu", (unsigned long long)state_number());
    CUresult r = path ? module_open(c, path, &jit, &m) : module_new(c, image, SIZE_MAX, name, &jit, &m);
    jit_done(&jit);
    *module = m ? m->handle : NULL;
    print_flush();
    return r;
}

CU_API CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    return load(module, NULL, path, 0, NULL, NULL);
}

CU_API CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return load(module, image, NULL, 0, NULL, NULL);
}

CU_API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n, CUjit_option *options,
                                   void **values)
{
    return load(module, image, NULL, n, options, values);
}

CU_API CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return load(module, image, NULL, 0, NULL, NULL);
}

CU_API CUresult cuModuleUnload(CUmodule module)
{
    TRY(state_ready());
    struct CUmod_st *m = module_of(module, false);
    if (!m)
        return CUDA_ERROR_INVALID_HANDLE;
    TRY(capture_unsafe());
    hd_context_synchronize(m->context->context);
    print_flush();
    module_drop(m);
    return CUDA_SUCCESS;
}

CU_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    TRY(state_ready());
    NEED(mode);
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

/* Finds a kernel or variable. NULL: the handle was invalid. */
static CUresult find(struct CUmod_st *m, struct device *d, const char *name, CUfunction *handle)
{
    struct CUfunc_st *f;
    if (!m)
        return CUDA_ERROR_INVALID_HANDLE;
    TRY(function_get(m, d, name, &f));
    *handle = f->handle;
    return CUDA_SUCCESS;
}

CU_API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(function && name);
    return find(record_of(module, HANDLE_MODULE), c->device, name, function);
}

static CUresult count(struct CUmod_st *m, struct device *d, unsigned *n)
{
    hd_module *loaded;
    if (!m)
        return CUDA_ERROR_INVALID_HANDLE;
    TRY(module_on(m, d, NULL, &loaded));
    *n = (unsigned)hd_module_kernel_count(loaded);
    return CUDA_SUCCESS;
}

/* Lists the first n kernels in the order of the PTX. */
static CUresult enumerate(struct CUmod_st *m, struct device *d, CUfunction *handles, unsigned n)
{
    hd_module *loaded;
    if (!m)
        return CUDA_ERROR_INVALID_HANDLE;
    TRY(module_on(m, d, NULL, &loaded));
    for (unsigned i = 0; i < n && hd_module_kernel_name(loaded, i); i++)
        TRY(find(m, d, hd_module_kernel_name(loaded, i), &handles[i]));
    return CUDA_SUCCESS;
}

CU_API CUresult cuModuleGetFunctionCount(unsigned *n, CUmodule module)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(n);
    return count(module_of(module, false), c->device, n);
}

CU_API CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned n, CUmodule module)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(functions);
    return enumerate(module_of(module, false), c->device, functions, n);
}

static CUresult global(struct CUmod_st *m, struct device *d, const char *name, CUdeviceptr *pointer, size_t *bytes)
{
    hd_module *loaded;
    void *at;
    size_t size;
    if (!m)
        return CUDA_ERROR_INVALID_HANDLE;
    if (m->companion)
        TRY(companion_find(m, PACK_VARIABLE, name, &m, &name));
    TRY(module_on(m, d, NULL, &loaded));
    hd_result r = hd_module_get_global(loaded, name, &at, &size);
    if (r) {
        log_line(LOG_ERROR, "%s: there is no variable `%s`", m->name, name);
        return from_hd(r);
    }
    if (pointer)
        *pointer = (CUdeviceptr)(uintptr_t)at;
    if (bytes)
        *bytes = size;
    return CUDA_SUCCESS;
}

CU_API CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(name);
    return global(module_of(module, false), c->device, name, pointer, bytes);
}

/* ---- libraries ---- */

/* CUlibraryOption only concerns how machine code is kept. */
static CUresult load_library(CUlibrary *library, const void *image, const char *path, unsigned n, CUjit_option *options,
                             void **values)
{
    struct jit_options jit;
    char name[64];
    struct CUmod_st *m = NULL;
    TRY(state_ready());
    NEED(library && (image || path));
    TRY(jit_read(&jit, n, options, values));
    unsigned number = image_number(image);
    snprintf(name, sizeof name, "PTX %llu of %s", number ? number : (unsigned long long)state_number(), file_of(image));
    CUresult r = path ? module_open(NULL, path, &jit, &m) : module_new(NULL, image, SIZE_MAX, name, &jit, &m);
    jit_done(&jit);
    *library = m ? (CUlibrary)m->handle : NULL;
    return r;
}

CU_API CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options, void **values,
                                  unsigned n, CUlibraryOption *library_options, void **library_values,
                                  unsigned library_n)
{
    (void)library_options;
    (void)library_values;
    (void)library_n;
    return load_library(library, code, NULL, n, options, values);
}

CU_API CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options, void **values,
                                      unsigned n, CUlibraryOption *library_options, void **library_values,
                                      unsigned library_n)
{
    (void)library_options;
    (void)library_values;
    (void)library_n;
    return load_library(library, NULL, path, n, options, values);
}

static CUresult library_of(CUlibrary handle, struct CUmod_st **m)
{
    TRY(state_ready());
    *m = module_of(handle, true);
    return *m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CU_API CUresult cuLibraryUnload(CUlibrary library)
{
    struct CUmod_st *m;
    TRY(library_of(library, &m));
    for (int i = 0; i < device_count(); i++) {
        CUcontext primary = m->on[i] || m->companion ? record_of(device_at(i)->primary, HANDLE_CONTEXT) : NULL;
        if (primary)
            hd_context_synchronize(primary->context);
    }
    CUcontext c = context_top();
    if (c)
        hd_context_synchronize(c->context);
    print_flush();
    module_drop(m);
    return CUDA_SUCCESS;
}

/* The device for inquiries about a library: that of the current context, or the first if there is
   none. */
static CUresult device_here(struct device **d)
{
    CUcontext c = context_top();
    return device_get(c ? c->device->ordinal : 0, d);
}

CU_API CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    struct CUmod_st *m;
    struct device *d;
    TRY(library_of(library, &m));
    NEED(kernel && name);
    TRY(device_here(&d));
    return find(m, d, name, (CUfunction *)kernel);
}

CU_API CUresult cuLibraryGetKernelCount(unsigned *n, CUlibrary library)
{
    struct CUmod_st *m;
    struct device *d;
    TRY(library_of(library, &m));
    NEED(n);
    TRY(device_here(&d));
    return count(m, d, n);
}

CU_API CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned n, CUlibrary library)
{
    struct CUmod_st *m;
    struct device *d;
    TRY(library_of(library, &m));
    NEED(kernels);
    TRY(device_here(&d));
    return enumerate(m, d, (CUfunction *)kernels, n);
}

/* A library is its own module of the current context. */
CU_API CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    struct CUmod_st *m;
    CUcontext c;
    TRY(library_of(library, &m));
    TRY(context_current(&c));
    NEED(module);
    *module = m->handle;
    return CUDA_SUCCESS;
}

CU_API CUresult cuLibraryGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUlibrary library, const char *name)
{
    struct CUmod_st *m;
    CUcontext c;
    TRY(library_of(library, &m));
    TRY(context_current(&c));
    NEED(name);
    return global(m, c->device, name, pointer, bytes);
}

/* A managed variable is like other variables here: the host can reach them all. */
CU_API CUresult cuLibraryGetManaged(CUdeviceptr *pointer, size_t *bytes, CUlibrary library, const char *name)
{
    struct CUmod_st *m;
    struct device *d;
    TRY(library_of(library, &m));
    NEED(name);
    TRY(device_here(&d));
    return global(m, d, name, pointer, bytes);
}
