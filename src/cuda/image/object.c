/* See object.h. Archives: ar(5). */
#include "cuda/image/object.h"

#include <ar.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf.h"
#include "base/str.h"

/* The only member of libcudadevrt.a; its PTX is for the newest devices only. */
static const char device_runtime_member[] = "cuda_device_runtime.o";

static enum image_result add_image(struct image *image, const void *data, size_t bytes, unsigned arch)
{
    struct image one;
    enum image_result r = image_read(data, bytes, arch, &one);
    if (r)
        memcpy(image->why, one.why, sizeof image->why);
    else
        r = image_take(image, &one);
    image_free(&one);
    return r;
}

/* Adds the containers of a host object file; a file without any adds nothing. */
static enum image_result add_object(struct image *image, const void *data, size_t bytes, unsigned arch)
{
    struct image_section sections[MAX_IMAGE_SECTIONS];
    struct elf e;
    enum image_result r = IMAGE_OK;
    if (!elf_view(&e, data, bytes) || e.header->e_machine == EM_CUDA)
        return add_image(image, data, bytes, arch);
    size_t n = image_sections(&e, sections);
    for (size_t i = 0; i < n && !r; i++)
        r = add_image(image, sections[i].data, sections[i].bytes, arch);
    return r;
}

/* The same at any address: members of libraries are only 2-byte aligned. */
static enum image_result add_aligned(struct image *image, const void *data, size_t bytes, unsigned arch)
{
    if ((uintptr_t)data % _Alignof(Elf64_Ehdr) == 0)
        return add_object(image, data, bytes, arch);
    void *copy = malloc(bytes + 1);
    if (!copy)
        return IMAGE_NO_MEMORY;
    memcpy(copy, data, bytes);
    enum image_result r = add_object(image, copy, bytes, arch);
    free(copy);
    return r;
}

/* Does the member have this name? Names end with a slash; those longer than 15 characters are in
 * the member `//`, and are written "/OFFSET". */
static bool has_name(const struct ar_hdr *h, struct str long_names, const char *name)
{
    size_t n = strlen(name);
    struct str in = {h->ar_name, sizeof h->ar_name};
    if (in.p[0] == '/') {
        size_t at = strtoul(in.p + 1, NULL, 10);
        in = at < long_names.n ? (struct str){long_names.p + at, long_names.n - at} : (struct str){"", 0};
    }
    return in.n > n && memcmp(in.p, name, n) == 0 && in.p[n] == '/';
}

bool library_members(const void *library, size_t bytes, library_visit *visit, void *to)
{
    const char *data = library;
    struct str long_names = {"", 0};
    for (size_t at = SARMAG; bytes - at >= sizeof(struct ar_hdr);) {
        struct ar_hdr h;
        memcpy(&h, data + at, sizeof h);
        at += sizeof h;
        /* also terminates the number before it */
        bool is_header = memcmp(h.ar_fmag, ARFMAG, sizeof h.ar_fmag) == 0;
        size_t size = is_header ? strtoul(h.ar_size, NULL, 10) : 0;
        if (!is_header || size > bytes - at)
            return false;
        bool has_code = h.ar_name[0] != '/' || (h.ar_name[1] >= '0' && h.ar_name[1] <= '9');
        if (memcmp(h.ar_name, "//", 2) == 0)
            long_names = (struct str){data + at, size};
        else if (has_code && !visit(to, data + at, size, has_name(&h, long_names, device_runtime_member)))
            return true;
        at += size;
        at += at % 2 && at < bytes;
    }
    return true;
}

bool is_library(const void *data, size_t bytes)
{
    return bytes >= SARMAG && memcmp(data, ARMAG, SARMAG) == 0;
}

/* The destination of a library's members. */
struct addition {
    struct image *image;
    unsigned arch;
    enum image_result result;
};

static bool add_member(void *to, const void *data, size_t bytes, bool is_device_runtime)
{
    struct addition *a = to;
    a->result = is_device_runtime ? add_image(a->image, device_runtime_ptx, SIZE_MAX, a->arch)
                                  : add_aligned(a->image, data, bytes, a->arch);
    if (a->result == IMAGE_NO_BINARY && a->arch == IMAGE_EVERY_ARCH)
        a->result = IMAGE_OK;
    return a->result == IMAGE_OK;
}

static enum image_result add_library(struct image *image, const void *data, size_t bytes, unsigned arch)
{
    struct addition a = {image, arch, IMAGE_OK};
    if (!library_members(data, bytes, add_member, &a)) {
        snprintf(image->why, sizeof image->why, "a member of the library is longer than the library");
        return IMAGE_INVALID;
    }
    return a.result;
}

enum image_result object_read(const void *data, size_t bytes, unsigned arch, struct image *image)
{
    *image = (struct image){0};
    enum image_result r =
        is_library(data, bytes) ? add_library(image, data, bytes, arch) : add_aligned(image, data, bytes, arch);
    if (r)
        image_free(image);
    return r;
}
