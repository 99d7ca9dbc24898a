/* Initialization, version, devices and their attributes, peers ("CUDA Driver API", 6.3 to 6.6,
 * 6.25). */
#include "cuda/state/state.h"

#include "cuda/driver/start.h"
#include "cuda/library.h"
#include "cuda/state/contexts.h"
#include "cuda/state/devices.h"
#include "cuda/state/machines.h"

#include <stdio.h>
#include <string.h>

CU_API CUresult cuInit(unsigned flags)
{
    NEED(flags == 0);
    return cuda_start();
}

CU_API CUresult cuDriverGetVersion(int *version)
{
    NEED(version);
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}

CU_API CUresult cuDeviceGetCount(int *count)
{
    TRY(state_ready());
    NEED(count);
    *count = device_count();
    return CUDA_SUCCESS;
}

CU_API CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    TRY(state_ready());
    NEED(device);
    if (ordinal < 0 || ordinal >= device_count())
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CU_API CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
    struct device *d;
    hd_machine_info info;
    TRY(device_get(dev, &d));
    NEED(name && len > 0);
    hd_machine_get_info(d->machine, &info);
    snprintf(name, (size_t)len, "%s", info.name);
    return CUDA_SUCCESS;
}

CU_API CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED(uuid);
    heddle_library_uuid((unsigned)d->number, (unsigned char *)uuid->bytes);
    return CUDA_SUCCESS;
}

CU_API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    return cuDeviceGetUuid_v2(uuid, dev);
}

/* LUIDs exist only on Windows. */
CU_API CUresult cuDeviceGetLuid(char *luid, unsigned *mask, CUdevice dev)
{
    (void)luid;
    (void)mask;
    (void)dev;
    return api_not_supported("cuDeviceGetLuid");
}

CU_API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
    struct device *d;
    hd_machine_info info;
    TRY(device_get(dev, &d));
    NEED(bytes);
    hd_machine_get_info(d->machine, &info);
    *bytes = info.memory_bytes;
    return CUDA_SUCCESS;
}

CU_API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice dev)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED(value);
    if (attribute == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID) {
        *value = d->number;
        return CUDA_SUCCESS;
    }
    return hd_machine_get_attribute(d->machine, (int)attribute, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static int attribute(struct device *d, CUdevice_attribute a)
{
    int value = 0;
    hd_machine_get_attribute(d->machine, (int)a, &value);
    return value;
}

CU_API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED(major && minor);
    *major = attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    *minor = attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return CUDA_SUCCESS;
}

CU_API CUresult cuDeviceGetProperties(CUdevprop *p, CUdevice dev)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED(p);
    *p = (CUdevprop){
        .maxThreadsPerBlock = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .sharedMemPerBlock = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
        .totalConstantMemory = attribute(d, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
        .SIMDWidth = attribute(d, CU_DEVICE_ATTRIBUTE_WARP_SIZE),
        .memPitch = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_PITCH),
        .regsPerBlock = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
        .clockRate = attribute(d, CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
        .textureAlign = attribute(d, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT),
    };
    for (int i = 0; i < 3; i++) {
        p->maxThreadsDim[i] = attribute(d, (CUdevice_attribute)(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i));
        p->maxGridSize[i] = attribute(d, (CUdevice_attribute)(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i));
    }
    return CUDA_SUCCESS;
}

/* ---- the bus: the devices stand side by side on bus 0 ---- */

CU_API CUresult cuDeviceGetPCIBusId(char *text, int len, CUdevice dev)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED(text && len > 0);
    snprintf(text, (size_t)len, "0000:00:%02x.0", (unsigned)d->number);
    return CUDA_SUCCESS;
}

CU_API CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *text)
{
    unsigned number;
    TRY(state_ready());
    NEED(dev && text);
    if (!heddle_library_place(text, &number))
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < device_count(); i++)
        if ((unsigned)device_at(i)->number == number) {
            *dev = i;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_DEVICE;
}

/* ---- peers: all devices' memory is this process's ---- */

CU_API CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer)
{
    struct device *d, *p;
    TRY(device_get(dev, &d));
    TRY(device_get(peer, &p));
    NEED(can);
    *can = d != p;
    return CUDA_SUCCESS;
}

CU_API CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice source, CUdevice target)
{
    struct device *s, *t;
    TRY(device_get(source, &s));
    TRY(device_get(target, &t));
    NEED(value && s != t);
    switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK: *value = 0; return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED: *value = 1; return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED: *value = 0; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CU_API CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(flags == 0);
    CUcontext peer = record_of(handle, HANDLE_CONTEXT);
    if (!peer)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (peer->device == c->device)
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    uint32_t bit = 1u << peer->device->ordinal;
    if (c->peers & bit)
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    c->peers |= bit;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxDisablePeerAccess(CUcontext handle)
{
    CUcontext c;
    TRY(context_current(&c));
    CUcontext peer = record_of(handle, HANDLE_CONTEXT);
    if (!peer)
        return CUDA_ERROR_INVALID_CONTEXT;
    uint32_t bit = 1u << peer->device->ordinal;
    if (!(c->peers & bit))
        return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    c->peers &= ~bit;
    return CUDA_SUCCESS;
}

/* ---- profilers: nothing to switch on ---- */

CU_API CUresult cuProfilerStart(void)
{
    return CUDA_SUCCESS;
}

CU_API CUresult cuProfilerStop(void)
{
    return CUDA_SUCCESS;
}
