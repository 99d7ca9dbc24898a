/* See fatbin.h. The format is described in docs/API.md ("Fat binaries"). */
#include "cuda/image/fatbin.h"

#include "cuda/image/unpack.h"
#include "cuda/wrapper.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ELF_MAGIC = 0x464c457f,
    ENTRY_PTX = 1,
    ENTRY_ELF = 2,
    MAX_ARCHS = 24,
    MAX_OBJECTS = 1 << 16,
};
static const uint32_t container_magic = 0xba55ed50;
/* In an image made by Heddle: a section with a text, whose sh_info is its architecture. */
static const char section_ptx[] = ".heddle.ptx";
/* The image's e_ident, with a mark in the padding that no compiler writes. */
static const uint8_t own_ident[EI_NIDENT] = {
    ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 0, 0, 'h', 'e', 'd', 'd', 'l', 'e', 0};

struct container {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of the entries */
};

/* What a fat binary contains, for messages. */
struct found {
    unsigned ptx[MAX_ARCHS], elf[MAX_ARCHS];
    size_t n_ptx, n_elf, elf_entries;
};

static void note_arch(unsigned *list, size_t *n, unsigned arch)
{
    for (size_t i = 0; i < *n; i++)
        if (list[i] == arch)
            return;
    if (*n < MAX_ARCHS)
        list[(*n)++] = arch;
}

/* ---- containers ---- */

/* Reads the entry at `at`, of `left` bytes; false if it does not fit. */
static bool read_entry(const uint8_t *at, uint64_t left, struct candidate *c, uint64_t *bytes)
{
    if (left < sizeof c->entry)
        return false;
    memcpy(&c->entry, at, sizeof c->entry);
    const struct entry *e = &c->entry;
    if (e->header_bytes < sizeof *e || e->header_bytes > left || e->payload_bytes > left - e->header_bytes)
        return false;
    c->payload = at + e->header_bytes;
    *bytes = e->header_bytes + e->payload_bytes;
    return true;
}

/* The contents of a container that fit the device best. */
struct choice {
    /* Without a payload if there is none; any: machine code for any device. */
    struct candidate ptx, code, any;
};

/* Machine code runs on its own architecture and on later ones of the same major number. */
static bool runs_on(unsigned code, unsigned arch)
{
    return code <= arch && code / 10 == arch / 10;
}

/* Finds the container's best entry, and its length in *size; adds all PTX
 * to the image if asked to. */
static enum image_result scan_container(struct image *image, const uint8_t *data, size_t limit, unsigned arch,
                                        struct found *found, uint64_t *size, struct choice *best)
{
    struct container h;
    struct candidate c;
    *best = (struct choice){0};
    if (limit < sizeof h)
        return image_broken(image, "it ends within the header of a container");
    memcpy(&h, data, sizeof h);
    if (h.magic != container_magic || h.header_bytes < sizeof h || h.header_bytes > limit ||
        h.bytes > limit - h.header_bytes)
        return image_broken(image, "a container is invalid, or longer than the image");
    *size = h.header_bytes + h.bytes;
    const uint8_t *at = data + h.header_bytes;
    for (uint64_t left = h.bytes, bytes; left > 0; at += bytes, left -= bytes) {
        if (!read_entry(at, left, &c, &bytes))
            return image_broken(image, "an entry is longer than its container");
        if (c.entry.kind == ENTRY_ELF) {
            note_arch(found->elf, &found->n_elf, c.entry.arch);
            found->elf_entries++;
            if (runs_on(c.entry.arch, arch) && (!best->code.payload || c.entry.arch > best->code.entry.arch))
                best->code = c;
            best->any = c;
        }
        if (c.entry.kind != ENTRY_PTX)
            continue;
        note_arch(found->ptx, &found->n_ptx, c.entry.arch);
        enum image_result r = arch == IMAGE_EVERY_ARCH ? entry_unpack(image, &c) : IMAGE_OK;
        if (r)
            return r;
        if (c.entry.arch <= arch && (!best->ptx.payload || c.entry.arch > best->ptx.entry.arch))
            best->ptx = c;
    }
    return IMAGE_OK;
}

/* Adds the best PTX of a container; a container without PTX adds nothing. */
static enum image_result read_container(struct image *image, const uint8_t *data, size_t limit, unsigned arch,
                                        struct found *found, uint64_t *size)
{
    struct choice best;
    enum image_result r = scan_container(image, data, limit, arch, found, size, &best);
    if (!r && best.ptx.payload && best.code.payload)
        entry_read_code(image, &best.code);
    return !r && best.ptx.payload ? entry_unpack(image, &best.ptx) : r;
}

static size_t list_archs(char *to, size_t size, const char *what, const unsigned *archs, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n && at < size; i++)
        at += (size_t)snprintf(to + at, size - at, "%s%u", i ? ", sm_" : what, archs[i]);
    return at < size ? at : size - 1;
}

static unsigned least(const unsigned *archs, size_t n)
{
    unsigned arch = n ? archs[0] : 0;
    for (size_t i = 1; i < n; i++)
        arch = archs[i] < arch ? archs[i] : arch;
    return arch;
}

/* The error if nothing in a fat binary fits the device: what it contains, and the remedy. */
static enum image_result nothing_fits(struct image *image, unsigned arch, const struct found *found)
{
    char has[256] = "no code at all";
    unsigned advised = arch != IMAGE_EVERY_ARCH && arch < 75 ? arch : 75;
    size_t at = list_archs(has, sizeof has, "PTX for sm_", found->ptx, found->n_ptx);
    if (found->n_ptx && found->n_elf)
        at += (size_t)snprintf(has + at, sizeof has - at, " and ");
    list_archs(has + at, sizeof has - at, "machine code for sm_", found->elf, found->n_elf);
    if (found->n_ptx)
        snprintf(image->why, sizeof image->why,
                 "the device is an sm_%u, and there is %s: run it with `heddle run --device sm_%u` "
                 "(HEDDLE_DEVICE=sm_%u), or build it with nvcc -gencode arch=compute_%u,code=compute_%u",
                 arch, has, least(found->ptx, found->n_ptx), least(found->ptx, found->n_ptx), arch, arch);
    else
        snprintf(
            image->why, sizeof image->why,
            "Heddle runs PTX, and there is %s%s; nvcc -gencode arch=compute_%u,code=compute_%u adds PTX, and --kernels "
            "takes it from a pack, which `heddle pack` makes",
            has, found->n_elf ? " alone" : "", advised, advised);
    return IMAGE_NO_BINARY;
}

/* Reads containers one after the other, up to `limit`; only one if that is unknown. */
static enum image_result read_containers(struct image *image, const uint8_t *data, size_t limit, unsigned arch)
{
    struct found found = {0};
    uint64_t size = 0;
    bool bounded = limit != SIZE_MAX;
    do {
        enum image_result r = read_container(image, data, limit, arch, &found, &size);
        if (r)
            return r;
        data += size;
        limit -= bounded ? size : 0;
        for (; bounded && limit && *data == 0; limit--)
            data++;
    } while (bounded && limit);
    return image->texts.n ? IMAGE_OK : nothing_fits(image, arch, &found);
}

/* Reads all containers of a section; zeros between them are padding. Returns false if the section
 * is broken. `found` collects their contents; *need, if there is one, is raised to the lowest
 * architecture that every container has PTX for. */
static bool scan_section(const struct image_section *s, struct found *found, unsigned *need)
{
    struct image image = {0};
    struct choice best;
    uint64_t size;
    const uint8_t *data = s->data;
    for (size_t left = s->bytes; left > 0;) {
        struct found here = {0};
        if (*data == 0) {
            data++;
            left--;
            continue;
        }
        if (scan_container(&image, data, left, UINT_MAX, need ? &here : found, &size, &best))
            return false;
        if (need && least(here.ptx, here.n_ptx) > *need)
            *need = least(here.ptx, here.n_ptx);
        data += size;
        left -= size;
    }
    return true;
}

/* The next container with PTX from *at on; *at becomes its end. NULL if there is none. */
static const uint8_t *next_with_ptx(const struct image_section *s, size_t *at, uint64_t *size)
{
    const uint8_t *data = s->data;
    while (*at < s->bytes) {
        struct image image = {0};
        struct found found = {0};
        struct choice best;
        const uint8_t *here = data + *at;
        if (*here == 0) { /* skips padding */
            ++*at;
            continue;
        }
        if (scan_container(&image, here, s->bytes - *at, UINT_MAX, &found, size, &best))
            return NULL;
        *at += *size;
        if (found.n_ptx)
            return here;
    }
    return NULL;
}

unsigned image_section_number(const struct image_section *section, size_t offset, unsigned *number)
{
    const uint8_t *container;
    uint64_t size;
    for (size_t at = 0; (container = next_with_ptx(section, &at, &size));) {
        ++*number;
        if (container == (const uint8_t *)section->data + offset)
            return *number;
    }
    return 0;
}

enum image_result image_section_text(const struct image_section *section, unsigned wanted, unsigned arch,
                                     unsigned *number, struct image *image)
{
    const uint8_t *container;
    uint64_t size;
    *image = (struct image){0};
    for (size_t at = 0; (container = next_with_ptx(section, &at, &size));)
        if (++*number == wanted)
            return image_read(container, size, arch, image);
    return IMAGE_NO_BINARY;
}

size_t image_sections(const struct elf *e, struct image_section sections[MAX_IMAGE_SECTIONS])
{
    static const char *const names[MAX_IMAGE_SECTIONS] = {".nv_fatbin", "__nv_relfatbin"};
    size_t n = 0;
    for (size_t i = 0; i < MAX_IMAGE_SECTIONS; i++) {
        const Elf64_Shdr *s = elf_section(e, names[i]);
        const void *contents = s && s->sh_size ? elf_contents(e, s) : NULL;
        if (contents)
            sections[n++] = (struct image_section){contents, s->sh_size};
    }
    return n;
}

unsigned image_section_needs(const struct image_section *section)
{
    unsigned need = 0;
    struct found found = {0};
    scan_section(section, &found, &need);
    return need;
}

bool image_sections_lack_ptx(const struct image_section *sections, size_t n, unsigned arch, char *why, size_t size)
{
    enum { LINKER_S_OWN = 1 };
    struct found found = {0};
    struct image image = {0};
    for (size_t i = 0; i < n; i++)
        if (!scan_section(&sections[i], &found, NULL))
            return false;
    if (found.n_ptx || found.elf_entries <= LINKER_S_OWN)
        return false;
    nothing_fits(&image, arch, &found);
    snprintf(why, size, "%s", image.why);
    return true;
}

static enum image_result read_wrapper(struct image *image, const void *data, unsigned arch)
{
    struct image_wrapper w;
    struct found found = {0};
    uint64_t size;
    memcpy(&w, data, sizeof w);
    if (w.version != 1 && w.version != 2)
        return image_broken(image, "its version is neither 1 nor 2");
    bool objects = w.version == 2 && w.objects && w.objects[0];
    if (!objects)
        return w.container ? read_containers(image, w.container, SIZE_MAX, arch)
                           : image_broken(image, "its wrapper names no container");
    for (size_t i = 0; w.objects[i]; i++) {
        enum image_result r =
            i < MAX_OBJECTS ? read_container(image, w.objects[i], SIZE_MAX, arch, &found, &size) : IMAGE_INVALID;
        if (r)
            return r;
    }
    return image->texts.n ? IMAGE_OK : nothing_fits(image, arch, &found);
}

/* ---- machine code ---- */

/* Passes on the container's machine code; returns its length, 0 if it is broken. */
static uint64_t each_code(const void *container, size_t limit, unsigned arch,
                          void (*each)(void *to, const void *code, size_t n), void *to)
{
    struct image image = {0};
    struct found found = {0};
    struct choice best;
    uint64_t size;
    size_t bytes;
    if (scan_container(&image, container, limit, arch, &found, &size, &best))
        return 0;
    const struct candidate *c = best.code.payload ? &best.code : &best.any;
    void *code = c->payload ? entry_code(c, &bytes) : NULL;
    if (code)
        each(to, code, bytes);
    free(code);
    return size;
}

void image_each_code(const void *data, size_t bytes, unsigned arch, void (*each)(void *to, const void *code, size_t n),
                     void *to)
{
    struct image_wrapper w;
    if (bytes == SIZE_MAX && (memcpy(&w, data, sizeof w), w.magic == IMAGE_WRAPPER_MAGIC)) {
        for (size_t i = 0; w.version == 2 && w.objects && w.objects[i] && i < MAX_OBJECTS; i++)
            each_code(w.objects[i], SIZE_MAX, arch, each, to);
        if (!(w.version == 2 && w.objects && w.objects[0]) && w.container)
            each_code(w.container, SIZE_MAX, arch, each, to);
        return;
    }
    uint64_t size;
    bool bounded = bytes != SIZE_MAX;
    for (const uint8_t *at = data; bytes; at += size, bytes -= bounded ? size : 0) {
        size = bounded && *at == 0 ? 1 : each_code(at, bytes, arch, each, to);
        if (!size || !bounded)
            return;
    }
}

/* ---- other images ---- */

/* The length of the file, by its headers. */
static size_t elf_extent(const uint8_t *data)
{
    Elf64_Ehdr h;
    memcpy(&h, data, sizeof h);
    size_t end = h.e_shoff + (size_t)h.e_shnum * sizeof(Elf64_Shdr);
    for (unsigned i = 0; h.e_shentsize == sizeof(Elf64_Shdr) && i < h.e_shnum; i++) {
        Elf64_Shdr s;
        memcpy(&s, data + h.e_shoff + i * sizeof s, sizeof s);
        if (s.sh_type != SHT_NOBITS && s.sh_offset + s.sh_size > end)
            end = s.sh_offset + s.sh_size;
    }
    return end;
}

static enum image_result machine_code(struct image *image)
{
    snprintf(image->why, sizeof image->why,
             "Heddle runs PTX, and the image is machine code (a cubin). Build it with nvcc -ptx, or as a fat binary "
             "with -gencode arch=compute_75,code=compute_75");
    return IMAGE_NO_BINARY;
}

/* Reads the PTX of an image by image_of_texts(). */
static enum image_result read_elf(struct image *image, const uint8_t *data, size_t bytes)
{
    struct elf e = {0};
    elf_view(&e, data, bytes);
    for (unsigned i = 0; i < e.n_sections; i++) {
        const Elf64_Shdr *s = &e.sections[i];
        if (strcmp(elf_section_name(&e, s), section_ptx) != 0)
            continue;
        const unsigned char *text = elf_contents(&e, s);
        if (!text || memchr(text, 0, s->sh_size))
            return image_broken(image, text ? "a PTX text contains a zero byte" : "a section is longer than the image");
        if (s->sh_size > MAX_TEXT_BYTES - image->bytes) /* sections may overlap */
            return image_too_much(image);
        if (!image_add_text(image, image_copy_text(text, s->sh_size), s->sh_size, s->sh_info))
            return image_no_memory(image);
    }
    return image->texts.n ? IMAGE_OK : machine_code(image);
}

/* The same for memory at any alignment, possibly of unknown length: then only our own images are
 * read. */
static enum image_result read_any_elf(struct image *image, const uint8_t *data, size_t limit)
{
    if (limit < sizeof(Elf64_Ehdr))
        return machine_code(image);
    /* Not beyond the first difference: it may end there. */
    for (size_t i = 0; i < sizeof own_ident; i++)
        if (data[i] != own_ident[i])
            return machine_code(image);
    size_t bytes = limit != SIZE_MAX ? limit : elf_extent(data);
    if ((uintptr_t)data % 8 == 0)
        return read_elf(image, data, bytes);
    uint8_t *aligned = malloc(bytes + 1);
    if (!aligned)
        return image_no_memory(image);
    memcpy(aligned, data, bytes);
    enum image_result r = read_elf(image, aligned, bytes);
    free(aligned);
    return r;
}

/* Writes the file header, section headers (the null section, the texts, the names), and the
   contents. */
void *image_of_texts(const struct image_text *texts, size_t n, size_t *bytes)
{
    static const char names[] = "\0.heddle.ptx\0.shstrtab";
    size_t n_sections = n + 2, at = sizeof(Elf64_Ehdr) + n_sections * sizeof(Elf64_Shdr);
    *bytes = at + sizeof names;
    for (size_t i = 0; i < n; i++)
        *bytes += texts[i].bytes;
    uint8_t *image = n_sections < SHN_LORESERVE ? calloc(1, *bytes) : NULL;
    if (!image)
        return NULL;
    Elf64_Ehdr h = {.e_type = ET_EXEC,
                    .e_machine = EM_CUDA,
                    .e_version = EV_CURRENT,
                    .e_shoff = sizeof h,
                    .e_ehsize = sizeof h,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = (Elf64_Half)n_sections,
                    .e_shstrndx = (Elf64_Half)(n_sections - 1)};
    memcpy(h.e_ident, own_ident, sizeof own_ident);
    memcpy(image, &h, sizeof h);
    for (size_t i = 0; i <= n; i++) {
        bool last = i == n;
        Elf64_Shdr s = {.sh_name = last ? 1 + sizeof section_ptx : 1,
                        .sh_type = last ? SHT_STRTAB : SHT_PROGBITS,
                        .sh_offset = at,
                        .sh_size = last ? sizeof names : texts[i].bytes,
                        .sh_info = last ? 0 : texts[i].arch,
                        .sh_addralign = 1};
        memcpy(image + sizeof h + (i + 1) * sizeof s, &s, sizeof s);
        memcpy(image + at, last ? names : texts[i].text, s.sh_size);
        at += s.sh_size;
    }
    return image;
}

/* PTX begins with .version, behind comments and space at most. */
static bool looks_like_ptx(const char *text, size_t n)
{
    static const char directive[] = ".version";
    for (size_t i = 0; i + sizeof directive - 1 <= n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '.' && memcmp(text + i, directive, sizeof directive - 1) == 0)
            return true;
        if (c >= 127 || (c < 32 && c != '\n' && c != '\t' && c != '\r' && c != '\f'))
            return false;
    }
    return false;
}

static enum image_result read_text(struct image *image, const char *data, size_t limit)
{
    size_t n = limit == SIZE_MAX ? strlen(data) : strnlen(data, limit);
    if (!looks_like_ptx(data, n)) {
        snprintf(image->why, sizeof image->why, "the image is neither a fat binary nor PTX text");
        return IMAGE_INVALID;
    }
    return image_add_text(image, image_copy_text(data, n), n, 0) ? IMAGE_OK : image_no_memory(image);
}

enum image_result image_read(const void *data, size_t bytes, unsigned arch, struct image *image)
{
    uint32_t magic = 0;
    *image = (struct image){0};
    if (bytes >= sizeof magic)
        memcpy(&magic, data, sizeof magic);
    enum image_result r;
    /* a wrapper has pointers, so it does not come from a file */
    if (magic == IMAGE_WRAPPER_MAGIC && bytes == SIZE_MAX) {
        r = read_wrapper(image, data, arch);
    } else if (magic == container_magic) {
        r = read_containers(image, data, bytes, arch);
    } else if (magic == ELF_MAGIC) {
        r = read_any_elf(image, data, bytes);
    } else {
        r = read_text(image, data, bytes);
    }
    if (r)
        image_free(image);
    return r;
}

void image_free(struct image *image)
{
    for (uint32_t i = 0; i < image->texts.n; i++)
        free(image->texts.at[i].text);
    free(image->texts.at);
    for (uint32_t i = 0; i < image->kernels.n; i++)
        free(image->kernels.at[i].name);
    free(image->kernels.at);
    memset(&image->texts.at, 0, sizeof image->texts);
    memset(&image->kernels, 0, sizeof image->kernels);
    image->bytes = 0;
}

void *image_file(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    char *data = NULL;
    long n = -1;
    if (f && fseek(f, 0, SEEK_END) == 0)
        n = ftell(f);
    if (n >= 0 && fseek(f, 0, SEEK_SET) == 0 && (data = malloc((size_t)n + 1)) != NULL) {
        *bytes = fread(data, 1, (size_t)n, f);
        data[*bytes] = 0;
    }
    if (f)
        fclose(f);
    return data;
}
