/* See auto_device.h. */
#include "cuda/auto_device.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>

#include "base/elf.h"
#include "cuda/fatbin.h"

enum { DEFAULT_ARCH = 90 };

/* The least device that runs PTX for `need`; `need` itself where there is none. */
static unsigned least_device(unsigned need)
{
    unsigned least = UINT_MAX;
#define MODEL(arch, ...) least = (arch) >= need && (arch) < least ? (arch) : least;
#include "exec/models.def"
    return least == UINT_MAX ? need : least;
}

static int look_at(struct dl_phdr_info *object, size_t size, void *data)
{
    struct image_section sections[MAX_IMAGE_SECTIONS];
    unsigned *need = data;
    struct elf e;
    (void)size;
    if (!elf_open(&e, object->dlpi_name[0] ? object->dlpi_name : "/proc/self/exe"))
        return 0;
    size_t n = image_sections(&e, sections);
    for (size_t i = 0; i < n; i++) {
        unsigned has = image_section_needs(&sections[i]);
        *need = has > *need ? has : *need;
    }
    elf_close(&e);
    return 0;
}

hd_result auto_machine(const hd_machine_options *options, hd_machine **machine, const char **error)
{
    static unsigned need;
    hd_machine_options o = *options;
    char name[16];
    o.device = name;
    if (!need) {
        need = DEFAULT_ARCH;
        dl_iterate_phdr(look_at, &need);
    }
    snprintf(name, sizeof name, "sm_%u", least_device(need));
    return hd_machine_create(&o, machine, error);
}
