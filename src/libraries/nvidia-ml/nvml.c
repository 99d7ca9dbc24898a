/* NVML: the devices that Heddle claims to have, whatever CUDA_VISIBLE_DEVICES says. Their number,
 * indices, UUIDs and places are known without creating a device, because programs ask for them
 * before fork(); properties of the model create one.
 */
#include "cuda/nvml.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libraries/common/library.h"

/* The driver's version in this release of CUDA ("CUDA Toolkit Release Notes", table 3). */
static const char DRIVER[] = "580.65.06", NVML[] = "13.580.65.06";

static _Atomic int users; /* nvmlInit calls without nvmlShutdown */

static bool started(void)
{
    return atomic_load(&users) > 0;
}

#define NEED_STARTED                                                                                                   \
    if (!started())                                                                                                    \
    return NVML_ERROR_UNINITIALIZED
#define NEED(condition)                                                                                                \
    if (!(condition))                                                                                                  \
    return NVML_ERROR_INVALID_ARGUMENT

static nvmlReturn_t give(char *to, unsigned length, const char *text)
{
    NEED(to);
    if (strlen(text) >= length)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    strcpy(to, text);
    return NVML_SUCCESS;
}

/* ---- the library ---- */

LIBRARY_API nvmlReturn_t nvmlInitWithFlags(unsigned flags)
{
    (void)flags;
    atomic_fetch_add(&users, 1);
    return NVML_SUCCESS;
}

LIBRARY_API nvmlReturn_t nvmlInit_v2(void)
{
    return nvmlInitWithFlags(0);
}

LIBRARY_API nvmlReturn_t nvmlShutdown(void)
{
    NEED_STARTED;
    atomic_fetch_sub(&users, 1);
    return NVML_SUCCESS;
}

LIBRARY_API const char *nvmlErrorString(nvmlReturn_t result)
{
    switch ((int)result) {
#define STATUS(name, number, text)                                                                                     \
    case number: return text;
#include "libraries/nvidia-ml/statuses.def"
#undef STATUS
    default: return "not a status of NVML";
    }
}

LIBRARY_API nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    NEED_STARTED;
    return give(version, length, DRIVER);
}

LIBRARY_API nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned length)
{
    return give(version, length, NVML);
}

LIBRARY_API nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    NEED(version);
    return cuDriverGetVersion(version) ? NVML_ERROR_UNKNOWN : NVML_SUCCESS;
}

LIBRARY_API nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version)
{
    return nvmlSystemGetCudaDriverVersion_v2(version);
}

LIBRARY_API nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length)
{
    char path[32], text[256] = {0};
    NEED_STARTED;
    NEED(name && length);
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return NVML_ERROR_NOT_FOUND;
    size_t n = fread(text, 1, sizeof text - 1, f); /* the first word, up to its 0 */
    fclose(f);
    snprintf(name, length, "%s", text);
    return n ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
}

/* ---- devices: a handle is 1 more than the number ---- */

static unsigned count(void)
{
    return heddle_library_devices();
}

static bool find(nvmlDevice_t device, unsigned *number)
{
    *number = (unsigned)((uintptr_t)device - 1);
    return (uintptr_t)device - 1 < count();
}

#define DEVICE(number, device)                                                                                         \
    unsigned number;                                                                                                   \
    NEED_STARTED;                                                                                                      \
    NEED(find(device, &number))

static void uuid_text(unsigned number, char text[64])
{
    unsigned char b[16];
    int n = snprintf(text, 64, "GPU-");
    heddle_library_uuid(number, b);
    for (int i = 0; i < 16; i++)
        n += snprintf(text + n, 64 - (size_t)n, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", b[i]);
}

LIBRARY_API nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *n)
{
    NEED_STARTED;
    NEED(n);
    *n = count();
    return NVML_SUCCESS;
}

LIBRARY_API nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device)
{
    NEED_STARTED;
    NEED(device && index < count());
    *device = (nvmlDevice_t)((uintptr_t)index + 1);
    return NVML_SUCCESS;
}

LIBRARY_API nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    char text[64];
    NEED_STARTED;
    NEED(uuid && device);
    for (unsigned i = 0; i < count(); i++) {
        uuid_text(i, text);
        if (strcmp(text, uuid) == 0)
            return nvmlDeviceGetHandleByIndex_v2(i, device);
    }
    return NVML_ERROR_NOT_FOUND;
}

LIBRARY_API nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *text, nvmlDevice_t *device)
{
    unsigned number;
    NEED_STARTED;
    NEED(text && device && heddle_library_place(text, &number));
    return number < count() ? nvmlDeviceGetHandleByIndex_v2(number, device) : NVML_ERROR_NOT_FOUND;
}

LIBRARY_API nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned *index)
{
    DEVICE(number, device);
    NEED(index);
    *index = number;
    return NVML_SUCCESS;
}

LIBRARY_API nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned *minor)
{
    return nvmlDeviceGetIndex(device, minor);
}

LIBRARY_API nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned length)
{
    char text[64];
    DEVICE(number, device);
    uuid_text(number, text);
    return give(uuid, length, text);
}

LIBRARY_API nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    DEVICE(number, device);
    NEED(pci);
    *pci = (nvmlPciInfo_t){.device = number};
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "0000:00:%02X.0", number & 0xff);
    snprintf(pci->busId, sizeof pci->busId, "00000000:00:%02X.0", number & 0xff);
    return NVML_SUCCESS;
}

/* ---- what the model has ---- */

#define MODEL(d, device)                                                                                               \
    struct library_device d;                                                                                           \
    DEVICE(device##_number, device);                                                                                   \
    if (!heddle_library_device(device##_number, &d))                                                                   \
    return NVML_ERROR_UNKNOWN

LIBRARY_API nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned length)
{
    MODEL(d, device);
    return give(name, length, d.name);
}

LIBRARY_API nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    MODEL(d, device);
    NEED(memory);
    *memory = (nvmlMemory_t){d.memory_bytes, d.memory_bytes - d.memory_used_bytes, d.memory_used_bytes};
    return NVML_SUCCESS;
}

LIBRARY_API nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    MODEL(d, device);
    NEED(memory);
    if (memory->version != nvmlMemory_v2)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    *memory = (nvmlMemory_v2_t){memory->version, d.memory_bytes, 0, d.memory_bytes - d.memory_used_bytes,
                                d.memory_used_bytes};
    return NVML_SUCCESS;
}

LIBRARY_API nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)
{
    MODEL(d, device);
    NEED(major && minor);
    *major = d.major;
    *minor = d.minor;
    return NVML_SUCCESS;
}

LIBRARY_API nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t *arch)
{
    MODEL(d, device);
    NEED(arch);
    *arch = d.major >= 10                  ? NVML_DEVICE_ARCH_BLACKWELL
            : d.major == 9                 ? NVML_DEVICE_ARCH_HOPPER
            : d.major == 8 && d.minor == 9 ? NVML_DEVICE_ARCH_ADA
            : d.major == 8                 ? NVML_DEVICE_ARCH_AMPERE
                                           : NVML_DEVICE_ARCH_UNKNOWN;
    return NVML_SUCCESS;
}

LIBRARY_API nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned *bits)
{
    MODEL(d, device);
    NEED(bits);
    *bits = (unsigned)d.memory_bus_bits;
    return NVML_SUCCESS;
}

/* ---- what is so for all of them ---- */

LIBRARY_API nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization)
{
    DEVICE(number, device);
    NEED(utilization);
    *utilization = (nvmlUtilization_t){0, 0};
    return NVML_SUCCESS;
}

#define ALWAYS(name, type, value)                                                                                      \
    LIBRARY_API nvmlReturn_t nvmlDeviceGet##name(nvmlDevice_t device, type *answer)                                    \
    {                                                                                                                  \
        DEVICE(number, device);                                                                                        \
        NEED(answer);                                                                                                  \
        *answer = value;                                                                                               \
        return NVML_SUCCESS;                                                                                           \
    }
ALWAYS(ComputeMode, nvmlComputeMode_t, NVML_COMPUTEMODE_DEFAULT)
ALWAYS(PersistenceMode, nvmlEnableState_t, NVML_FEATURE_ENABLED)
ALWAYS(DisplayMode, nvmlEnableState_t, NVML_FEATURE_DISABLED)
ALWAYS(DisplayActive, nvmlEnableState_t, NVML_FEATURE_DISABLED)

/* Only this process is known, once it has device memory. */
LIBRARY_API nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *n,
                                                                 nvmlProcessInfo_t *processes)
{
    static const unsigned NONE = 0xffffffff;
    MODEL(d, device);
    NEED(n);
    unsigned room = *n;
    *n = d.memory_used_bytes != 0;
    if (*n > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    NEED(processes || !*n);
    if (*n)
        processes[0] = (nvmlProcessInfo_t){(unsigned)getpid(), d.memory_used_bytes, NONE, NONE};
    return NVML_SUCCESS;
}

LIBRARY_API nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned *n,
                                                                  nvmlProcessInfo_t *processes)
{
    (void)processes;
    DEVICE(number, device);
    NEED(n);
    *n = 0;
    return NVML_SUCCESS;
}

/* ---- by their former names ---- */

#undef nvmlInit
#undef nvmlDeviceGetCount
#undef nvmlDeviceGetHandleByIndex
#undef nvmlDeviceGetHandleByPciBusId
#undef nvmlDeviceGetPciInfo
#undef nvmlDeviceGetComputeRunningProcesses
#undef nvmlDeviceGetGraphicsRunningProcesses
LIBRARY_API nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned *n,
                                                              nvmlProcessInfo_v1_t *processes)
{
    nvmlProcessInfo_t process = {0};
    NEED(n);
    NEED(processes || !*n);
    unsigned room = *n;
    nvmlReturn_t r = nvmlDeviceGetComputeRunningProcesses_v3(device, n, room ? &process : NULL);
    if (r == NVML_SUCCESS && *n)
        *processes = (nvmlProcessInfo_v1_t){process.pid, process.usedGpuMemory};
    return r;
}

#define FORMER(name, newer) extern __typeof__(newer) name __attribute__((alias(#newer), visibility("default")))
FORMER(nvmlInit, nvmlInit_v2);
FORMER(nvmlDeviceGetCount, nvmlDeviceGetCount_v2);
FORMER(nvmlDeviceGetHandleByIndex, nvmlDeviceGetHandleByIndex_v2);
FORMER(nvmlDeviceGetHandleByPciBusId, nvmlDeviceGetHandleByPciBusId_v2);
FORMER(nvmlDeviceGetComputeRunningProcesses_v2, nvmlDeviceGetComputeRunningProcesses_v3);
FORMER(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlDeviceGetGraphicsRunningProcesses_v3);
