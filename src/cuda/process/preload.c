/* Loaded first by `heddle run`: makes programs that contain the CUDA runtime (nvcc's default), or
 * that load a CUDA library by its path, call Heddle's.
 *
 * Such a program has the runtime's functions in its own symbol table. Before any of the program's
 * constructors run, each function that libcudart.so.N has, too, gets a jump to that one at its
 * entry; the embedded runtime never runs. Shared objects are treated alike: the dynamic linker
 * calls an empty function for debuggers (r_brk of struct r_debug) when objects are mapped and none
 * of their code has run; a jump at its entry informs us. The same happens to libraries with the
 * name of a CUDA library that Heddle has, too (libcudart.so.13 by an RPATH, libnvJitLink.so.13 in a
 * wheel, libcublas.so.13 by its path), and to a library's functions that are linked into an object
 * (libcublas_static.a), if ours exports them.
 *
 * This object is initialised first (-z initfirst), even before the C library: no stdio is used
 * unless an error occurs.
 */
#include "cuda/process/preload.h"
#include "base/elf.h"
#include "cuda/marker.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- names of functions that Heddle has ---- */

enum family { RUNTIME_FUNCTION, LINKER_FUNCTION, IMAGE_FUNCTION, LIBRARY_FUNCTION };

struct name {
    const char *name;
    enum family family;
    int first, last; /* major versions */
};

static const struct name names[] = {
#define ENTRY(name, first, last)                  {name, RUNTIME_FUNCTION, first, last}
#define NAME_plain(name, first, last)             ENTRY(#name, first, last),
#define NAME_ptds(name, first, last)              ENTRY(#name, first, last), ENTRY(#name "_ptds", first, last),
#define NAME_ptsz(name, first, last)              ENTRY(#name, first, last), ENTRY(#name "_ptsz", first, last),
#define RUNTIME(name, first, last, stream, state) NAME_##stream(name, first, last)
#include "cuda/runtime.def"
#undef RUNTIME
#define NVJITLINK(name) {"nvJitLink" #name, LINKER_FUNCTION, 12, 13},
#include "cuda/nvjitlink.def"
#undef NVJITLINK
    {"nvrtcGetCUBINSize", IMAGE_FUNCTION, 12, 13},
    {"nvrtcGetCUBIN", IMAGE_FUNCTION, 12, 13},
};

enum { N_NAMES = sizeof names / sizeof names[0], N_BUCKETS = 1024 };

static const struct name *buckets[N_BUCKETS];

static unsigned hash(const char *s)
{
    unsigned h = 2166136261u;
    while (*s)
        h = (h ^ (unsigned char)*s++) * 16777619u;
    return h;
}

static void index_names(void)
{
    for (unsigned i = 0; i < N_NAMES; i++) {
        unsigned b = hash(names[i].name) % N_BUCKETS;
        while (buckets[b])
            b = (b + 1) % N_BUCKETS;
        buckets[b] = &names[i];
    }
}

static const struct name *find_plain(const char *s)
{
    for (unsigned b = hash(s) % N_BUCKETS; buckets[b]; b = (b + 1) % N_BUCKETS)
        if (strcmp(buckets[b]->name, s) == 0)
            return buckets[b];
    return NULL;
}

/* __nvJitLinkCreate_13_5, the name in the header, means nvJitLinkCreate. */
static const struct name *find_versioned(const char *s)
{
    char plain[64];
    size_t n = strlen(s);
    for (int numbers = 0; numbers < 2; numbers++) {
        while (n && s[n - 1] >= '0' && s[n - 1] <= '9')
            n--;
        n -= n && s[n - 1] == '_';
    }
    if (n >= sizeof plain)
        return NULL;
    memcpy(plain, s, n);
    plain[n] = 0;
    return find_plain(plain);
}

static const struct name *find_name(const char *s)
{
    if (strncmp(s, "__nvJitLink", 11) == 0)
        return find_versioned(s + 2);
    bool possible = strncmp(s, "cuda", 4) == 0 || strncmp(s, "__cuda", 6) == 0 || strncmp(s, "nv", 2) == 0;
    return possible ? find_plain(s) : NULL;
}

/* ---- what takes their place ---- */

/* A family of functions in an object, and our library that has them. */
struct stand_in {
    enum family family;
    int major;
    const char *library;
    /* Exports of our library, for a library inside the object; or NULL. */
    const struct elf_symbols *exports;
};

/* By soname. */
static const struct {
    const char *soname;
    struct stand_in by;
} libraries[] = {
    {"libcudart.so.11.0", {RUNTIME_FUNCTION, 11, "libcudart.so.11.0", NULL}},
    {"libcudart.so.12", {RUNTIME_FUNCTION, 12, "libcudart.so.12", NULL}},
    {"libcudart.so.13", {RUNTIME_FUNCTION, 13, "libcudart.so.13", NULL}},
    {"libnvJitLink.so.12", {LINKER_FUNCTION, 12, "libnvJitLink.so.12", NULL}},
    {"libnvJitLink.so.13", {LINKER_FUNCTION, 13, "libnvJitLink.so.13", NULL}},
    {"libnvrtc.so.12", {IMAGE_FUNCTION, 12, "libheddle-nvrtc.so.12", NULL}},
    {"libnvrtc.so.13", {IMAGE_FUNCTION, 13, "libheddle-nvrtc.so.13", NULL}},
#define LIBRARY(name, soname, cuda) {soname, {LIBRARY_FUNCTION, cuda, soname, NULL}},
#include "cuda/libraries.def"
#undef LIBRARY
};

/* Finds our library beside this object; false if it is not there. Libraries such as cuBLAS are
 * separate packages. */
static bool find_library(const char *library, char path[4096])
{
    const struct link_map *m = _r_debug.r_map;
    while (m && m->l_ld != _DYNAMIC)
        m = m->l_next;
    const char *slash = m ? strrchr(m->l_name, '/') : NULL;
    size_t folder = slash ? (size_t)(slash + 1 - m->l_name) : 0;
    if (folder + strlen(library) >= 4096)
        return false;
    memcpy(path, slash ? m->l_name : "", folder);
    strcpy(path + folder, library);
    return access(path, F_OK) == 0;
}

static const struct stand_in *by_soname(const struct elf *e)
{
    char path[4096];
    const char *soname = elf_dynamic_string(e, DT_SONAME, 0);
    for (size_t i = 0; soname && i < sizeof libraries / sizeof libraries[0]; i++)
        if (strcmp(soname, libraries[i].soname) == 0)
            return libraries[i].by.family != LIBRARY_FUNCTION || find_library(soname, path) ? &libraries[i].by : NULL;
    return NULL;
}

/* The runtime with this version. */
static const struct stand_in *by_major(int major)
{
    size_t i = 0;
    while (libraries[i].by.family != RUNTIME_FUNCTION || libraries[i].by.major != major)
        i++;
    return &libraries[i].by;
}

/* ---- an object that carries a runtime ---- */

/* The version of a runtime, by its functions: only CUDA 12 has cudaGetDeviceProperties_v2;
 * __cudaGetKernel appeared with it. */
static int major_of(const struct elf_symbols *symbols)
{
    bool kernel = false;
    for (size_t i = 0; i < symbols->n; i++) {
        const char *s = elf_symbol_name(symbols, i);
        if (symbols->at[i].st_shndx == SHN_UNDEF)
            continue;
        if (strcmp(s, "cudaGetDeviceProperties_v2") == 0)
            return 12;
        kernel |= strcmp(s, "__cudaGetKernel") == 0;
    }
    return kernel ? 13 : 11;
}

static bool is_function(const Elf64_Sym *s)
{
    return s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_size >= PATCH_BYTES;
}

/* The major version of the runtime library that an object is linked with; 0: none. */
static int needed_major(const struct elf *e)
{
    const char *needed;
    for (unsigned n = 0; (needed = elf_dynamic_string(e, DT_NEEDED, n)); n++)
        for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
            if (libraries[i].by.family == RUNTIME_FUNCTION && strcmp(needed, libraries[i].soname) == 0)
                return libraries[i].by.major;
    return 0;
}

/* a function that every runtime has and its users call */
static const char registers_images[] = "__cudaRegisterFatBinary";

static bool defines(const struct elf_symbols *symbols, const char *name)
{
    for (size_t i = 0; i < symbols->n; i++)
        if (is_function(&symbols->at[i]) && strcmp(elf_symbol_name(symbols, i), name) == 0)
            return true;
    return false;
}

/* Does the object define it? Searches the string table first, which is
 * fast even with many symbols. */
static bool has_runtime(const struct elf_symbols *symbols)
{
    if (!memmem(symbols->strings, symbols->string_bytes, registers_images, sizeof registers_images))
        return false;
    return defines(symbols, registers_images);
}

/* Public names of a library such as cuBLAS: a missing one is reported when it is called. */
static bool is_public(const char *s)
{
    static const char *const prefixes[] = {"cu", "nccl", "pnccl", "nvml", "nvtx", "nvshmem"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(s, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Are these two sonames of one library? */
static bool same_library(const char *a, const char *b)
{
    return strncmp(a, b, strcspn(a, ".") + 1) == 0;
}

/* cublasCreate_v2 belongs to libcublas.so.13. */
static bool is_named_by(const char *s, const char *soname)
{
    size_t lib = strlen("lib");
    return strncmp(s, soname + lib, strcspn(soname, ".") - lib) == 0;
}

/* Our function's name for symbol i, or NULL. */
static const char *replacement(const struct elf_symbols *symbols, size_t i, const struct stand_in *by)
{
    const char *s = elf_symbol_name(symbols, i);
    if (!is_function(&symbols->at[i]))
        return NULL;
    if (by->family == LIBRARY_FUNCTION)
        return (by->exports ? is_named_by(s, by->library) && defines(by->exports, s) : is_public(s)) ? s : NULL;
    const struct name *name = find_name(s);
    bool fits = name && name->family == by->family && name->first <= by->major && by->major <= name->last;
    return fits ? name->name : NULL;
}

/* A copy of a name, because the object's file is closed soon; NULL if memory is exhausted. */
static const char *kept(const char *name)
{
    enum { MORE = 1 << 16 };
    static char *room;
    static size_t left;
    size_t n = strlen(name) + 1;
    if (n > left) {
        void *more = mmap(NULL, MORE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more == MAP_FAILED || n > MORE)
            return NULL;
        room = more;
        left = MORE;
    }
    char *copy = memcpy(room, name, n);
    room += n;
    left -= n;
    return copy;
}

static void replace(const struct elf_symbols *symbols, uintptr_t base, const char *path, const struct stand_in *by)
{
    uintptr_t least = UINTPTR_MAX, end = 0;
    size_t n = 0;
    for (size_t i = 0; i < symbols->n; i++) {
        const Elf64_Sym *s = &symbols->at[i];
        if (!replacement(symbols, i, by))
            continue;
        least = s->st_value < least ? s->st_value : least;
        end = s->st_value + s->st_size > end ? s->st_value + s->st_size : end;
        n++;
    }
    if (!n)
        return;
    struct patches *p = patches_begin(base + least, base + end, n, by->library);
    if (!p) {
        fprintf(stderr,
                "heddle: %s: its CUDA functions cannot be redirected to Heddle's: no memory near them is free\n", path);
        return;
    }
    for (size_t i = 0; i < symbols->n; i++) {
        const char *name = replacement(symbols, i, by);
        if (name && by->family == LIBRARY_FUNCTION)
            name = kept(name);
        if (name)
            patches_add(p, base + symbols->at[i].st_value, name);
    }
    patches_end(p);
}

/* Does the object import functions of the runtime? Then it does not contain one. */
static bool imports_runtime(const struct elf_symbols *dynamic)
{
    for (size_t i = 0; i < dynamic->n; i++) {
        const Elf64_Sym *s = &dynamic->at[i];
        if (s->st_shndx != SHN_UNDEF || ELF64_ST_BIND(s->st_info) == STB_WEAK)
            continue;
        const struct name *name = find_name(elf_symbol_name(dynamic, i));
        if (name && name->family == RUNTIME_FUNCTION)
            return true;
    }
    return false;
}

/* Finds an embedded runtime in the symbol table that has its names. Imports are checked first,
 * because reading all names of an object takes long if there are a hundred megabytes, as in torch.
 * The dynamic symbols suffice if they contain functions that register images, too: a program may
 * export its runtime. */
static bool find_runtime(const struct elf *e, struct elf_symbols *symbols)
{
    if (elf_symbols(e, SHT_DYNSYM, symbols) && imports_runtime(symbols))
        return false;
    if (elf_symbols(e, SHT_SYMTAB, symbols) && has_runtime(symbols))
        return true;
    return elf_section(e, ".nvFatBinSegment") && elf_symbols(e, SHT_DYNSYM, symbols) && has_runtime(symbols);
}

/* Replaces functions of libraries such as cuBLAS that are linked in. They all come with culibos,
 * which nothing else contains. */
static void replace_inside(const struct elf_symbols *symbols, uintptr_t base, const char *path, int major)
{
    static const char culibos[] = "culibos";
    char ours[4096];
    const char *last = "";
    struct elf e;
    struct elf_symbols exports;
    if (!memmem(symbols->strings, symbols->string_bytes, culibos, sizeof culibos - 1))
        return;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        /* A library's first row for that version of CUDA, or later. */
        struct stand_in by = libraries[i].by;
        if (by.family != LIBRARY_FUNCTION || by.major < major || same_library(by.library, last))
            continue;
        last = by.library;
        by.exports = &exports;
        if (!find_library(by.library, ours) || !elf_open(&e, ours))
            continue;
        if (elf_symbols(&e, SHT_DYNSYM, &exports))
            replace(symbols, base, path, &by);
        elf_close(&e);
    }
}

/* The path of the program itself, which the list does not have. */
static const char *own_path(void)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    return n > 0 ? path : "/proc/self/exe";
}

/* Replaces the runtime, and, in objects that are not CUDA libraries, functions of linked-in
 * libraries. Such a shared object has the libraries' images, too: names of other objects, which may
 * be many, are not read. */
static void replace_linked_in(const struct elf *e, uintptr_t base, const char *path, bool is_library)
{
    struct elf_symbols symbols;
    int major;
    if (find_runtime(e, &symbols)) {
        major = major_of(&symbols);
        replace(&symbols, base, path, by_major(major));
    } else {
        major = needed_major(e);
    }
    if (major && !is_library && (elf_section(e, ".nvFatBinSegment") || strcmp(path, own_path()) == 0) &&
        elf_symbols(e, SHT_SYMTAB, &symbols))
        replace_inside(&symbols, base, path, major);
}

/* Objects that any program may have and that never contain CUDA: they are not read. */
static bool is_of_the_system(const char *path)
{
    static const char *const names[] = {"linux-vdso.so.1", "ld-linux-x86-64.so.2", "libc.so.6",
                                        "libm.so.6",       "libpthread.so.0",      "libdl.so.2",
                                        "librt.so.1",      "libgcc_s.so.1",        "libstdc++.so.6"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Replaces the functions of an object that is a CUDA library or contains the runtime. */
static void examine(const char *path, uintptr_t base)
{
    struct elf e;
    struct elf_symbols symbols;
    if (is_of_the_system(path) || !elf_open(&e, path))
        return;
    if (!elf_section(&e, HEDDLE_MARKER)) {
        const struct stand_in *by = by_soname(&e);
        if (by && elf_symbols(&e, SHT_DYNSYM, &symbols))
            replace(&symbols, base, path, by);
        if (!by || by->family == LIBRARY_FUNCTION)
            replace_linked_in(&e, base, path, by != NULL);
    }
    elf_close(&e);
}

/* ---- objects that come and go ---- */

enum { MAX_SEEN = 4096 };

static struct seen {
    const struct link_map *map;
    const void *dynamic;
    uintptr_t base;
} seen[MAX_SEEN];
static size_t n_seen;

static bool same(const struct seen *s, const struct link_map *m)
{
    return s->map == m && s->dynamic == m->l_ld && s->base == m->l_addr;
}

/* Examines new objects in the list, and forgets objects that are gone. */
static void look(const struct link_map *first)
{
    size_t kept = 0;
    for (size_t i = 0; i < n_seen; i++) {
        const struct link_map *m = first;
        while (m && !same(&seen[i], m))
            m = m->l_next;
        if (m)
            seen[kept++] = seen[i];
    }
    n_seen = kept;
    for (const struct link_map *m = first; m; m = m->l_next) {
        size_t i = 0;
        while (i < n_seen && !same(&seen[i], m))
            i++;
        if (i < n_seen || n_seen == MAX_SEEN)
            continue;
        seen[n_seen++] = (struct seen){m, m->l_ld, m->l_addr};
        examine(m == first && !m->l_name[0] ? own_path() : m->l_name, m->l_addr);
    }
}

/* Runs in place of the dynamic linker's empty function. */
static void objects_changed(void)
{
    if (_r_debug.r_state == RT_CONSISTENT)
        look(_r_debug.r_map);
}

__attribute__((constructor)) static void start(void)
{
    index_names();
    look(_r_debug.r_map);
    if (!patch_empty_function((uintptr_t)_r_debug.r_brk, objects_changed))
        fputs(
            "heddle: this system's dynamic linker cannot be watched: a CUDA library that the program opens by its path "
            "is not replaced by Heddle's\n",
            stderr);
}
