/* A thread's context and its last error ("CUDA Runtime API", 6.1 device management, 6.3 error
 * handling).
 *
 * A thread uses the context that the driver API made current, else its device's primary context,
 * which is retained on first use.
 */
#include "cuda/runtime/runtime.h"

#include <pthread.h>
#include <stdlib.h>

enum { MAX_DEVICES = 64 };

static struct {
    pthread_once_t once;
    CUresult ready; /* of cuInit */
    int devices;
    bool exiting;
    pthread_mutex_t lock;
    CUcontext primary[MAX_DEVICES]; /* retained, or NULL */
    unsigned flags[MAX_DEVICES];    /* of cudaSetDeviceFlags, for devices that are not yet ready */
} process = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
    cudaError_t last;
    int device;
} thread;

static void note_exit(void)
{
    process.exiting = true;
}

bool rt_is_exiting(void)
{
    return process.exiting;
}

/* In a child of fork, where a thread of the parent may have held the lock. */
static void after_fork(void)
{
    pthread_mutex_init(&process.lock, NULL);
}

static void start(void)
{
    heddle_library_loaded();
    atexit(note_exit);
    pthread_atfork(NULL, NULL, after_fork);
    process.ready = cuInit(0);
    if (!process.ready)
        process.ready = cuDeviceGetCount(&process.devices);
    if (process.devices > MAX_DEVICES)
        process.devices = MAX_DEVICES;
}

static cudaError_t ready(void)
{
    pthread_once(&process.once, start);
    return rt_error_of(process.ready);
}

/* Unfinished work is no error, and cudaGetLastError does not report it ("CUDA C++ Programming
 * Guide", "Error Checking"). */
cudaError_t rt_return(cudaError_t error)
{
    if (error && error != cudaErrorNotReady) {
        thread.last = error;
        heddle_call_failed((int)error, cudaGetErrorName(error));
    }
    return error;
}

cudaError_t rt_check_device(int device)
{
    cudaError_t e = ready();
    return e ? e : device < 0 || device >= process.devices ? cudaErrorInvalidDevice : cudaSuccess;
}

/* Makes the primary context of `device` current. */
static cudaError_t use_primary(int device)
{
    CUresult r = CUDA_SUCCESS;
    pthread_mutex_lock(&process.lock);
    if (!process.primary[device])
        r = cuDevicePrimaryCtxRetain(&process.primary[device], device);
    CUcontext context = process.primary[device];
    pthread_mutex_unlock(&process.lock);
    return rt_error_of(r ? r : cuCtxSetCurrent(context));
}

cudaError_t rt_enter(void)
{
    CUcontext current = NULL;
    cudaError_t e = ready();
    if (e)
        return e;
    cuCtxGetCurrent(&current);
    return current ? cudaSuccess : use_primary(thread.device);
}

cudaError_t rt_current_device(int *device)
{
    CUcontext current = NULL;
    cudaError_t e = ready();
    if (e)
        return e;
    cuCtxGetCurrent(&current);
    if (current)
        return rt_error_of(cuCtxGetDevice(device));
    *device = thread.device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    cudaError_t e = ready();
    if (!count)
        return rt_return(cudaErrorInvalidValue);
    *count = e ? 0 : process.devices;
    return rt_return(e);
}

cudaError_t cudaGetDevice(int *device)
{
    return rt_return(device ? rt_current_device(device) : cudaErrorInvalidValue);
}

cudaError_t cudaSetDevice(int device)
{
    cudaError_t e = rt_check_device(device);
    if (!e)
        e = use_primary(device);
    if (!e)
        thread.device = device;
    return rt_return(e);
}

cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
    CUcontext before = NULL;
    cudaError_t e = rt_check_device(device);
    if (!e && flags & cudaInitDeviceFlagsAreValid)
        e = rt_error_of(cuDevicePrimaryCtxSetFlags(device, deviceFlags & cudaDeviceScheduleMask));
    if (e)
        return rt_return(e);
    cuCtxGetCurrent(&before);
    e = use_primary(device);
    cuCtxSetCurrent(before);
    return rt_return(e);
}

cudaError_t cudaSetValidDevices(int *device_arr, int len)
{
    if (len < 0 || (len > 0 && !device_arr))
        return rt_return(cudaErrorInvalidValue);
    for (int i = 0; i < len; i++)
        if (rt_check_device(device_arr[i]))
            return rt_return(cudaErrorInvalidDevice);
    thread.device = len ? device_arr[0] : 0; /* "the first one that works" */
    return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    int device;
    if (flags & ~(unsigned)cudaDeviceMask)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t e = rt_current_device(&device);
    if (e)
        return rt_return(e);
    process.flags[device] = flags;
    return rt_return(rt_error_of(cuDevicePrimaryCtxSetFlags(device, flags & cudaDeviceScheduleMask)));
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    int device, active;
    cudaError_t e = flags ? rt_current_device(&device) : cudaErrorInvalidValue;
    if (e)
        return rt_return(e);
    e = rt_error_of(cuDevicePrimaryCtxGetState(device, flags, &active));
    *flags |= cudaDeviceMapHost | process.flags[device];
    return rt_return(e);
}

cudaError_t cudaDeviceSynchronize(void)
{
    RT_CALL(cuCtxSynchronize());
}

cudaError_t cudaDeviceReset(void)
{
    int device;
    cudaError_t e = rt_current_device(&device);
    if (e)
        return rt_return(e);
    pthread_mutex_lock(&process.lock);
    process.primary[device] = NULL;
    process.flags[device] = 0;
    e = rt_error_of(cuDevicePrimaryCtxReset(device));
    pthread_mutex_unlock(&process.lock);
    cuCtxSetCurrent(NULL);
    thread.device = device;
    thread.last = cudaSuccess;
    return rt_return(e);
}

/* Errors that a context does not recover from: every call of it fails from then on ("CUDA Runtime
 * API", cudaError_t: "this leaves the process in an inconsistent state"). */
static bool is_sticky(cudaError_t error)
{
    switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure: return true;
    default: return false;
    }
}

cudaError_t cudaPeekAtLastError(void)
{
    heddle_error_seen();
    return thread.last;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t e = thread.last;
    heddle_error_seen();
    if (!is_sticky(e))
        thread.last = cudaSuccess;
    return e;
}

const char *cudaGetErrorName(cudaError_t error)
{
    switch ((int)error) {
    case cudaSuccess: return "cudaSuccess";
#define CUDA_ERROR(number, name, string)                                                                               \
    case number: return "cudaError" #name;
#include "cuda/cuda_errors.def"
#undef CUDA_ERROR
    default: return "unrecognized error code";
    }
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch ((int)error) {
    case cudaSuccess: return "no error";
#define CUDA_ERROR(number, name, string)                                                                               \
    case number: return string;
#include "cuda/cuda_errors.def"
#undef CUDA_ERROR
    default: return "unrecognized error code";
    }
}
