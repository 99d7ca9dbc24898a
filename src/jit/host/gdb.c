/* See gdb.h. Names, layout and version of the following are defined by gdb. The process has one
 * list, which gdb reads when it attaches, and when its breakpoint in __jit_debug_register_code is
 * hit.
 */
#include "jit/host/gdb.h"

#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct gdb_entry {
    struct gdb_entry *next, *prev;
    const char *symbols; /* an ELF object whose section headers have the sections' addresses */
    uint64_t bytes;
};

enum action { JIT_NOACTION, JIT_REGISTER, JIT_UNREGISTER };

struct descriptor {
    uint32_t version, action; /* enum action */
    struct gdb_entry *relevant, *first;
};

extern struct descriptor __jit_debug_descriptor;
void __jit_debug_register_code(void);

struct descriptor __jit_debug_descriptor __attribute__((used)) = {.version = 1};

__attribute__((noinline, used)) void __jit_debug_register_code(void)
{
    __asm__ volatile("" ::: "memory");
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void tell(enum action action, struct gdb_entry *e)
{
    __jit_debug_descriptor.action = action;
    __jit_debug_descriptor.relevant = e;
    __jit_debug_register_code();
    __jit_debug_descriptor.action = JIT_NOACTION;
    __jit_debug_descriptor.relevant = NULL;
}

/* Unwind tables are not loaded. They refer to the code by 32-bit offsets, so they are placed behind
 * it. */
static void place_sections(uint8_t *elf, const struct loaded_object *o)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)elf;
    Elf64_Shdr *sections = (Elf64_Shdr *)(elf + header->e_shoff);
    uint64_t behind = (uint64_t)(uintptr_t)o->at + o->bytes;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (o->sections[i]) {
            sections[i].sh_addr = (uint64_t)(uintptr_t)o->at + o->sections[i];
        } else if (sections[i].sh_flags & SHF_ALLOC) {
            sections[i].sh_addr = behind;
            behind += (sections[i].sh_size + 15) & ~15ull;
        }
    }
}

struct gdb_entry *gdb_tell(const struct loaded_object *o, const uint8_t *elf, size_t bytes)
{
    struct gdb_entry *e = calloc(1, sizeof *e + bytes);
    if (!e)
        return NULL;
    e->symbols = memcpy(e + 1, elf, bytes);
    e->bytes = bytes;
    place_sections((uint8_t *)(e + 1), o);
    pthread_mutex_lock(&lock);
    e->next = __jit_debug_descriptor.first;
    if (e->next)
        e->next->prev = e;
    __jit_debug_descriptor.first = e;
    tell(JIT_REGISTER, e);
    pthread_mutex_unlock(&lock);
    return e;
}

void gdb_forget(struct gdb_entry *e)
{
    if (!e)
        return;
    pthread_mutex_lock(&lock);
    if (e->next)
        e->next->prev = e->prev;
    if (e->prev)
        e->prev->next = e->next;
    else
        __jit_debug_descriptor.first = e->next;
    tell(JIT_UNREGISTER, e);
    pthread_mutex_unlock(&lock);
    free(e);
}
