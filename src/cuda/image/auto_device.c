/* See auto_device.h. */
#include "cuda/image/auto_device.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>

#include "base/elf.h"
#include "cuda/image/fatbin.h"

enum { DEFAULT_ARCH = 90 };

/* The lowest device that runs PTX for `need`; 0 if there is none. */
static unsigned least_device(unsigned need)
{
    unsigned least = UINT_MAX;
#define MODEL(arch, ...) least = (arch) >= need && (arch) < least ? (arch) : least;
#include "exec/models.def"
    return least == UINT_MAX ? 0 : least;
}

static int look_at(struct dl_phdr_info *object, size_t size, void *data)
{
    struct image_section sections[MAX_IMAGE_SECTIONS];
    unsigned *least = data;
    struct elf e;
    (void)size;
    if (!elf_open(&e, object->dlpi_name[0] ? object->dlpi_name : "/proc/self/exe"))
        return 0;
    size_t n = image_sections(&e, sections);
    for (size_t i = 0; i < n; i++) {
        /* images that no device runs are ignored */
        unsigned device = least_device(image_section_needs(&sections[i]));
        *least = device > *least ? device : *least;
    }
    elf_close(&e);
    return 0;
}

hd_result auto_machine(const hd_machine_options *options, hd_machine **machine, const char **error)
{
    static unsigned least;
    hd_machine_options o = *options;
    char name[16];
    o.device = name;
    if (!least) {
        least = DEFAULT_ARCH;
        dl_iterate_phdr(look_at, &least);
    }
    snprintf(name, sizeof name, "sm_%u", least);
    return hd_machine_create(&o, machine, error);
}
