/* images: bytes as what programs hand to the driver API to be loaded, damaged; see cases.h for how
 * it is used.
 *
 * A case's first byte chooses the call. Some of these know no length: what such an image says of
 * its own is looked at first, and one that says more than is there goes to a call that has a
 * length. Behind the image's last byte is a page that nobody may access. Whatever the answer, the
 * child must end with one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cuda.h>

#include "cases.h"

enum { PAGE = 4096 };
enum call { LOAD_DATA, LOAD_DATA_EX, LOAD_FAT_BINARY, LIBRARY, LINK, FILE_OF_IT, CALLS };

const char *const case_counts[] = {"loaded", "refused", NULL};

struct bytes {
    const char *at;
    size_t n;
};

/* What an image of no known length says of its length. */
static uint64_t stated_bytes(const uint8_t *p, size_t n)
{
    uint32_t magic = 0;
    uint16_t header;
    uint64_t bytes;
    if (n < 16)
        return UINT64_MAX;
    memcpy(&magic, p, 4);
    memcpy(&header, p + 6, 2);
    memcpy(&bytes, p + 8, 8);
    switch (magic) {
    case 0xba55ed50: return bytes > UINT32_MAX ? UINT64_MAX : header < 16 ? 16 : header + bytes;
    case 0x4b4c4448: return bytes;             /* what cuLinkComplete makes */
    case 0x466243b1: return UINT64_MAX;        /* a wrapper has pointers */
    default: return strnlen((char *)p, n) + 1; /* text */
    }
}

static uint8_t *place(const char *from, size_t n)
{
    size_t room = (n + PAGE - 1) / PAGE * PAGE;
    uint8_t *p = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + room, PAGE, PROT_NONE))
        abort();
    return memcpy(p + room - n, from, n);
}

static void note(CUresult r)
{
    told->counts[r ? 1 : 0]++;
    if (loud)
        fprintf(stderr, "%s: %d\n", told->where, (int)r);
}

static void load_module(CUresult r, CUmodule m)
{
    note(r);
    if (!r)
        cuModuleUnload(m);
}

static void link_data(void *image, size_t n)
{
    static const CUjitInputType types[] = {CU_JIT_INPUT_PTX, CU_JIT_INPUT_FATBINARY, CU_JIT_INPUT_CUBIN};
    for (unsigned i = 0; i < 3; i++) {
        CUlinkState state;
        CUmodule m;
        void *made;
        size_t bytes;
        if (cuLinkCreate(0, NULL, NULL, &state))
            abort();
        snprintf(told->where, sizeof told->where, "cuLinkAddData of type %d", (int)types[i]);
        CUresult r = cuLinkAddData(state, types[i], image, n, "case", 0, NULL, NULL);
        if (!r)
            r = cuLinkComplete(state, &made, &bytes);
        if (!r) {
            r = cuModuleLoadData(&m, made);
            load_module(r, m);
        } else {
            note(r);
        }
        cuLinkDestroy(state);
    }
}

static void load_file(const void *image, size_t n)
{
    char path[] = "/tmp/heddle-image-XXXXXX";
    CUmodule m = NULL;
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, image, n) != (ssize_t)n)
        abort();
    close(fd);
    CUresult r = cuModuleLoad(&m, path);
    unlink(path);
    load_module(r, m);
}

static void load(enum call call, uint8_t *image, size_t n)
{
    static const char *const names[] = {"cuModuleLoadData",  "cuModuleLoadDataEx", "cuModuleLoadFatBinary",
                                        "cuLibraryLoadData", "cuLinkAddData",      "cuModuleLoad"};
    struct {
        uint32_t magic, version;
        const void *container;
        const void *const *objects;
    } wrapper = {0x466243b1, 1, image, NULL};
    CUmodule m = NULL;
    CUlibrary l = NULL;
    CUresult r;
    if (stated_bytes(image, n) > n && call < LINK)
        call = n % 2 ? LINK : FILE_OF_IT;
    snprintf(told->where, sizeof told->where, "%s", names[call]);
    switch (call) {
    case LOAD_DATA:
        r = cuModuleLoadData(&m, image);
        load_module(r, m);
        break;
    case LOAD_DATA_EX:
        r = cuModuleLoadDataEx(&m, image, 0, NULL, NULL);
        load_module(r, m);
        break;
    case LOAD_FAT_BINARY:
        r = cuModuleLoadFatBinary(&m, &wrapper);
        load_module(r, m);
        break;
    case LIBRARY:
        r = cuLibraryLoadData(&l, image, NULL, NULL, 0, NULL, NULL, 0);
        note(r);
        if (!r)
            cuLibraryUnload(l);
        break;
    case LINK: link_data(image, n); break;
    default: load_file(image, n); break;
    }
}

static void child(const void *argument)
{
    const struct bytes *b = argument;
    CUdevice device;
    CUcontext context;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context))
        abort();
    uint8_t *image = place(b->at, b->n);
    if (strcmp(crime, "reads-behind") == 0)
        (void)*(volatile uint8_t *)(image + b->n);
    load((enum call)((uint8_t)b->at[-1] % CALLS), image, b->n);
    cuDevicePrimaryCtxRelease(device);
}

void do_case(const char *bytes, size_t n)
{
    if (n > 0)
        do_in_child(child, &(struct bytes){bytes + 1, n - 1});
}
