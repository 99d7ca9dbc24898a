/* Entry points by name and version, errors by number ("CUDA Driver API", 6.30 cuGetProcAddress, 6.2
 * error handling). */
#define HEDDLE_CUDA_VERSIONS
#include "cuda/api.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf.h"

/* Addresses of all exports, whatever their signatures. */
#define DECLARE(symbol)                           extern const char address_##symbol[] __asm__(#symbol);
#define DECLARE_plain(symbol)                     DECLARE(symbol)
#define DECLARE_ptds(symbol)                      DECLARE(symbol) DECLARE(symbol##_ptds)
#define DECLARE_ptsz(symbol)                      DECLARE(symbol) DECLARE(symbol##_ptsz)
#define API(export, name, version, stream, state) DECLARE_##stream(export)
#include "cuda/api.def"
#undef API

static const struct entry {
    const char *name;
    int version;
    const void *plain, *per_thread;
} entries[] = {
#define OWN_plain(symbol)                         address_##symbol
#define OWN_ptds(symbol)                          address_##symbol##_ptds
#define OWN_ptsz(symbol)                          address_##symbol##_ptsz
#define API(export, name, version, stream, state) {#name, version, address_##export, OWN_##stream(export)},
#include "cuda/api.def"
#undef API
};

CU_API CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *status)
{
    const struct entry *best = NULL;
    bool known = false;
    if (!symbol || !pfn || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    for (const struct entry *e = entries; e < entries + sizeof entries / sizeof entries[0]; e++) {
        if (strcmp(e->name, symbol) != 0)
            continue;
        known = true;
        if (e->version <= version && (!best || e->version > best->version))
            best = e;
    }
    if (status)
        *status = best    ? CU_GET_PROC_ADDRESS_SUCCESS
                  : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                          : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    bool own = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    *pfn = best ? (void *)(own ? best->per_thread : best->plain) : NULL;
    if (!best)
        log_line(LOG_API, "cuGetProcAddress: there is no %s of version %d", symbol, version);
    return best ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CU_API CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
    return cuGetProcAddress_v2(symbol, pfn, version, flags, NULL);
}

/* Is it NVIDIA's runtime, or a program that contains it? */
static bool is_runtime(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, "libcudart.", 10) == 0 || !strstr(path, ".so");
}

/* A library with device code, such as cuBLAS, contains the runtime. */
static bool has_images(const char *path)
{
    struct elf e;
    if (!elf_open(&e, path))
        return false;
    bool has = elf_section(&e, ".nvFatBinSegment") != NULL;
    elf_close(&e);
    return has;
}

/* The advice for a file with NVIDIA's runtime; NULL if the file has none. */
static const char *remedy(const char *path)
{
    const char *preload = getenv("LD_PRELOAD");
    if (!is_runtime(path))
        return has_images(path) ? "it is inside this library, which has been stripped, so Heddle cannot replace it"
                                : NULL;
    return preload && strstr(preload, "libheddle-preload.so")
               ? "load libcudart.so without a path, link without an RPATH to it, or do not strip the library that "
                 "contains it"
               : "start the program with `heddle run`";
}

/* The program's call site: the second frame, behind entry.S. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wframe-address"
static inline __attribute__((always_inline)) const void *caller_of_entry(void)
{
    return __builtin_return_address(1);
}
#pragma GCC diagnostic pop

/* Private tables of NVIDIA's driver. If NVIDIA's runtime asks for them, all its calls will fail,
 * and a message tells what to do. Some other NVIDIA libraries ask, too, and work without them. */
CU_API CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    Dl_info caller = {0};
    if (!table || !id)
        return CUDA_ERROR_INVALID_VALUE;
    const char *help = dladdr(caller_of_entry(), &caller) && caller.dli_fname ? remedy(caller.dli_fname) : NULL;
    if (help && !atomic_flag_test_and_set(&said))
        say("%s: NVIDIA's CUDA runtime is in use, and it needs NVIDIA's driver: %s", caller.dli_fname, help);
    return api_not_supported("cuGetExportTable");
}

/* ---- errors ---- */

static const struct {
    CUresult result;
    const char *name, *text;
} errors[] = {
#define ERROR(name, text) {name, #name, text},
#include "cuda/driver/errors.def"
#undef ERROR
};

static int find_error(CUresult error)
{
    int n = (int)(sizeof errors / sizeof errors[0]);
    for (int i = 0; i < n; i++)
        if (errors[i].result == error)
            return i;
    return -1;
}

CU_API CUresult cuGetErrorName(CUresult error, const char **text)
{
    int i = find_error(error);
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = i < 0 ? NULL : errors[i].name;
    return i < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CU_API CUresult cuGetErrorString(CUresult error, const char **text)
{
    int i = find_error(error);
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = i < 0 ? NULL : errors[i].text;
    return i < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
