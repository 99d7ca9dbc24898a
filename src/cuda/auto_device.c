/* See auto_device.h. */
#include "cuda/auto_device.h"

#include <link.h>
#include <stdio.h>

#include "base/elf.h"
#include "cuda/fatbin.h"

enum { DEFAULT_ARCH = 90, LAST_ARCH = 129 };

static int look_at(struct dl_phdr_info *object, size_t size, void *data)
{
    static const char *const names[] = {".nv_fatbin", "__nv_relfatbin"};
    unsigned *need = data;
    struct elf e;
    (void)size;
    if (!elf_open(&e, object->dlpi_name[0] ? object->dlpi_name : "/proc/self/exe"))
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const Elf64_Shdr *s = elf_section(&e, names[i]);
        const void *contents = s ? elf_contents(&e, s) : NULL;
        unsigned has = contents ? image_section_needs(&(struct image_section){contents, s->sh_size}) : 0;
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
    hd_result r;
    o.device = name;
    if (!need) {
        need = DEFAULT_ARCH;
        dl_iterate_phdr(look_at, &need);
    }
    do {
        snprintf(name, sizeof name, "sm_%u", need);
        r = hd_machine_create(&o, machine, error);
    } while (r == HD_ERROR_INVALID_VALUE && need++ < LAST_ARCH);
    return r;
}
