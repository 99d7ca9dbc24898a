/* The number of an image among a file's PTX texts, by which messages name it. See api.h. */
#include "cuda/api.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "cuda/image/fatbin.h"
#include "cuda/wrapper.h"

/* The address of an image's first container. */
static const void *container_of(const void *image)
{
    struct image_wrapper w;
    memcpy(&w, image, sizeof w.magic);
    if (w.magic != IMAGE_WRAPPER_MAGIC)
        return image;
    memcpy(&w, image, sizeof w);
    return w.version == 2 && w.objects && w.objects[0] ? w.objects[0] : w.container;
}

unsigned image_number(const void *image)
{
    enum { MOST_BYTES = 64 << 20 };
    static const char *const names[] = {".nv_fatbin", "__nv_relfatbin"};
    const char *at = image ? container_of(image) : NULL;
    Dl_info object;
    struct elf e;
    unsigned number = 0, found = 0;
    if (!at || !dladdr(at, &object) || !object.dli_fname || !elf_open(&e, object.dli_fname))
        return 0;
    uintptr_t base = e.header->e_type == ET_DYN ? (uintptr_t)object.dli_fbase : 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !found; i++) {
        const Elf64_Shdr *s = elf_section(&e, names[i]);
        const unsigned char *contents = s && s->sh_size && s->sh_size <= MOST_BYTES ? elf_contents(&e, s) : NULL;
        struct image_section section = {contents, s ? s->sh_size : 0};
        uintptr_t offset = s ? (uintptr_t)at - base - s->sh_addr : 0;
        if (contents)
            found = image_section_number(&section, offset, &number);
    }
    elf_close(&e);
    return found;
}
