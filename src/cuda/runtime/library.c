/* Device code that a program loads itself ("CUDA Runtime API", 6.35 library
 * management). */
#include "cuda/runtime/runtime.h"

static CUjit_option *driver_options(enum cudaJitOption *options)
{
    return (CUjit_option *)options; /* with the same numbers */
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *jitOptions,
                                void **jitOptionsValues, unsigned int numJitOptions,
                                enum cudaLibraryOption *libraryOptions, void **libraryOptionValues,
                                unsigned int numLibraryOptions)
{
    RT_CALL(cuLibraryLoadData(library, code, driver_options(jitOptions), jitOptionsValues, numJitOptions,
                              (CUlibraryOption *)libraryOptions, libraryOptionValues, numLibraryOptions));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName, enum cudaJitOption *jitOptions,
                                    void **jitOptionsValues, unsigned int numJitOptions,
                                    enum cudaLibraryOption *libraryOptions, void **libraryOptionValues,
                                    unsigned int numLibraryOptions)
{
    RT_CALL(cuLibraryLoadFromFile(library, fileName, driver_options(jitOptions), jitOptionsValues, numJitOptions,
                                  (CUlibraryOption *)libraryOptions, libraryOptionValues, numLibraryOptions));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    RT_CALL(cuLibraryUnload(library));
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *pKernel, cudaLibrary_t library, const char *name)
{
    cudaError_t e = rt_enter();
    if (!e)
        e = rt_error_of(cuLibraryGetKernel(pKernel, library, name));
    return rt_return(e);
}

cudaError_t cudaLibraryGetGlobal(void **dptr, size_t *bytes, cudaLibrary_t library, const char *name)
{
    RT_CALL(cuLibraryGetGlobal((CUdeviceptr *)dptr, bytes, library, name));
}

cudaError_t cudaLibraryGetManaged(void **dptr, size_t *bytes, cudaLibrary_t library, const char *name)
{
    RT_CALL(cuLibraryGetManaged((CUdeviceptr *)dptr, bytes, library, name));
}

cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t lib)
{
    RT_CALL(cuLibraryGetKernelCount(count, lib));
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int numKernels, cudaLibrary_t lib)
{
    cudaError_t e = rt_enter();
    if (!e)
        e = rt_error_of(cuLibraryEnumerateKernels(kernels, numKernels, lib));
    return rt_return(e);
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attr, int value, int device)
{
    cudaError_t e = rt_check_device(device);
    if (!e)
        e = rt_enter();
    return rt_return(e ? e : rt_error_of(cuKernelSetAttribute((CUfunction_attribute)attr, value, kernel, device)));
}
