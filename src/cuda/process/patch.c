/* See preload.h. A 5-byte jump reaches 2 GiB: it leads to a trampoline nearby, which jumps through
 * a slot. At first the slot leads to a stub that loads Heddle's library and looks the function up.
 * This is impossible while the dynamic linker works, but possible when the function is called.
 */
#include "cuda/process/preload.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct slot {
    const void *target;
    const void *original; /* where the function jumped, if it only did that */
    const char *name;
    const struct patches *patches;
};

enum { TRAMPOLINE_BYTES = 16, PAGE = 4096, JMP_REL32 = 0xe9 };

/* One mapping near the code: trampolines (executable), then this, then slots. */
struct patches {
    unsigned char *trampolines;
    struct slot *slots;
    size_t n, capacity;
    unsigned char *code; /* the pages being modified */
    size_t code_bytes;
    const char *library;
    struct patches *older;
};

static size_t pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* ---- the first call of a function ---- */

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "heddle: cannot run CUDA's %s: %s\n", what, why ? why : "it is not there");
    _exit(127);
}

/* Finds the function for the slot; called by the stub. */
__attribute__((used)) static const void *heddle_resolve(struct slot *slot)
{
    Dl_info own;
    char path[4096];
    const char *slash = dladdr((void *)&stop, &own) ? strrchr(own.dli_fname, '/') : NULL;
    int folder = slash ? (int)(slash - own.dli_fname) : 1;
    snprintf(path, sizeof path, "%.*s/%s", folder, slash ? own.dli_fname : ".", slot->patches->library);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        stop(slot->name, dlerror());
    const void *function = dlsym(library, slot->name);
    if (!function)
        stop(slot->name, dlerror());
    slot->target = function;
    return function;
}

/* Entered with the slot's address in r11; keeps all registers that carry arguments. */
__asm__(".text\n"
        ".type heddle_stub, @function\n"
        "heddle_stub:\n"
        "  push %rbp\n  mov %rsp, %rbp\n"
        "  push %rax\n  push %rdi\n  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n"
        "  sub $128, %rsp\n  and $-16, %rsp\n"
        "  movups %xmm0, (%rsp)\n  movups %xmm1, 16(%rsp)\n  movups %xmm2, 32(%rsp)\n  movups %xmm3, 48(%rsp)\n"
        "  movups %xmm4, 64(%rsp)\n  movups %xmm5, 80(%rsp)\n  movups %xmm6, 96(%rsp)\n  movups %xmm7, 112(%rsp)\n"
        "  mov %r11, %rdi\n  call heddle_resolve\n  mov %rax, %r11\n"
        "  movups (%rsp), %xmm0\n  movups 16(%rsp), %xmm1\n  movups 32(%rsp), %xmm2\n  movups 48(%rsp), %xmm3\n"
        "  movups 64(%rsp), %xmm4\n  movups 80(%rsp), %xmm5\n  movups 96(%rsp), %xmm6\n  movups 112(%rsp), %xmm7\n"
        "  lea -56(%rbp), %rsp\n"
        "  pop %r9\n  pop %r8\n  pop %rcx\n  pop %rdx\n  pop %rsi\n  pop %rdi\n  pop %rax\n  pop %rbp\n"
        "  jmp *%r11\n"
        ".size heddle_stub, .-heddle_stub\n");
extern const char heddle_stub[] __attribute__((visibility("hidden")));

/* ---- jumps ---- */

/* Maps memory within reach of jumps from all of begin..end. */
static unsigned char *map_near(uintptr_t begin, uintptr_t end, size_t bytes)
{
    const uintptr_t reach = (uintptr_t)2000 << 20, step = (uintptr_t)1 << 20;
    for (uintptr_t away = 0; away < reach; away += step)
        for (int up = 1; up >= 0; up--) {
            uintptr_t at = up ? pages(end) + away : begin / PAGE * PAGE - bytes - away;
            if (!up && begin < away + bytes + PAGE)
                continue;
            void *p = mmap((void *)at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                           -1, 0);
            if (p != MAP_FAILED && (uintptr_t)p == at)
                return p;
            if (p != MAP_FAILED)
                munmap(p, bytes); /* a kernel that ignores the flag */
        }
    return NULL;
}

static void put32(unsigned char *at, const void *target)
{
    /* relative to the instruction's end */
    int32_t distance = (int32_t)((const unsigned char *)target - (at + 4));
    memcpy(at, &distance, sizeof distance);
}

static void put_jump(unsigned char *at, const unsigned char *target)
{
    at[0] = JMP_REL32;
    put32(at + 1, target);
}

struct patches *patches_begin(uintptr_t begin, uintptr_t end, size_t n, const char *library)
{
    size_t trampolines = pages(n * TRAMPOLINE_BYTES), bytes = sizeof(struct patches) + n * sizeof(struct slot);
    if (begin >= end)
        return NULL;
    unsigned char *near = map_near(begin, end, trampolines + pages(bytes));
    if (!near)
        return NULL;
    struct patches *p = (struct patches *)(void *)(near + trampolines);
    *p = (struct patches){.trampolines = near,
                          .slots = (struct slot *)(void *)(p + 1),
                          .capacity = n,
                          .code = (unsigned char *)(begin / PAGE * PAGE),
                          .code_bytes = pages(end) - begin / PAGE * PAGE,
                          .library = library};
    return mprotect(p->code, p->code_bytes, PROT_READ | PROT_WRITE | PROT_EXEC) == 0 ? p : NULL;
}

/* The trampoline: lea slot(%rip), %r11; jmp *slot(%rip). */
static const unsigned char *add_trampoline(struct patches *p, const void *target, const char *name)
{
    struct slot *s = &p->slots[p->n];
    unsigned char *t = p->trampolines + p->n++ * TRAMPOLINE_BYTES;
    *s = (struct slot){target, NULL, name, p};
    memcpy(t, "\x4c\x8d\x1d", 3);
    put32(t + 3, s);
    memcpy(t + 7, "\xff\x25", 2);
    put32(t + 9, s);
    return t;
}

void patches_add(struct patches *p, uintptr_t function, const char *name)
{
    unsigned char *code = (unsigned char *)function;
    int32_t distance;
    if (p->n == p->capacity)
        return;
    const unsigned char *trampoline = add_trampoline(p, heddle_stub, name);
    memcpy(&distance, code + 1, sizeof distance);
    if (code[0] == JMP_REL32)
        p->slots[p->n - 1].original = code + PATCH_BYTES + distance;
    put_jump(code, trampoline);
}

/* All mappings; only one thread patches at a time, others read. */
static struct patches *newest;

/* The original of a function that was replaced by one of `library`; NULL if it was overwritten. Our
 * libraries look this function up by name. */
__attribute__((visibility("default"))) const void *heddle_original(const char *library, const char *name)
{
    for (const struct patches *p = __atomic_load_n(&newest, __ATOMIC_ACQUIRE); p; p = p->older)
        for (size_t i = 0; i < p->n; i++)
            if (p->slots[i].original && strcmp(p->library, library) == 0 && strcmp(p->slots[i].name, name) == 0)
                return p->slots[i].original;
    return NULL;
}

void patches_end(struct patches *p)
{
    mprotect(p->trampolines, pages(p->capacity * TRAMPOLINE_BYTES), PROT_READ | PROT_EXEC);
    mprotect(p->code, p->code_bytes, PROT_READ | PROT_EXEC);
    p->older = newest;
    if (p->library)
        __atomic_store_n(&newest, p, __ATOMIC_RELEASE);
}

/* Is it `endbr64; ret`, or `ret` or `repz ret` (glibc 2.27, by GCC 7) with padding up to the jump's
 * length, so that a jump overwrites nothing else? */
static bool is_empty(const unsigned char *f)
{
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xc3};
    static const unsigned char paddings[][4] = {
        {0x66, 0x2e, 0x0f, 0x1f}, {0x66, 0x66, 0x2e, 0x0f}, {0x0f, 0x1f, 0x84, 0x00}, {0x0f, 0x1f, 0x80, 0x00},
        {0x0f, 0x1f, 0x44, 0x00}, {0x0f, 0x1f, 0x40, 0x00}, {0xcc, 0xcc, 0xcc, 0xcc}, {0x90, 0x90, 0x90, 0x90}};
    size_t ret = f[0] == 0xc3 ? 1 : f[0] == 0xf3 && f[1] == 0xc3 ? 2 : 0;
    if (memcmp(f, endbr64, sizeof endbr64) == 0)
        return true;
    for (size_t i = 0; ret && i < sizeof paddings / sizeof paddings[0]; i++)
        if (memcmp(f + ret, paddings[i], PATCH_BYTES - ret) == 0)
            return true;
    return false;
}

bool patch_empty_function(uintptr_t function, void (*hook)(void))
{
    struct patches *p =
        is_empty((const unsigned char *)function) ? patches_begin(function, function + PATCH_BYTES, 1, NULL) : NULL;
    if (!p)
        return false;
    put_jump((unsigned char *)function, add_trampoline(p, (const void *)hook, ""));
    patches_end(p);
    return true;
}
