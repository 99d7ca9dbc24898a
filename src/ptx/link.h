/* Linking: names that modules leave open get the definitions that other modules make visible.
 *
 * PTX ISA 5.4.1, 10.? "Linking Directives": .extern names a definition elsewhere, .visible makes
 * one known to others, .weak yields to any other, .common merges. Names without a directive stay in
 * their module.
 */
#ifndef HEDDLE_PTX_LINK_H
#define HEDDLE_PTX_LINK_H

#include "ptx/module.h"

/* Modules linked together. */
struct ptx_image {
    struct arena *arena;
    uint32_t n_modules;
    struct ptx_module **modules;
    VEC(struct ptx_func *) kernels;   /* .entry with a body, in the order of the texts */
    VEC(struct ptx_func *) functions; /* .func with a body: what a function pointer may point to */
    struct map symbols;               /* what is visible across modules */
    struct map kernels_by_name;       /* the first of each name */
};

/* Fills `definition` of every declared function and variable. A function that is nowhere defined
 * keeps itself: ir/ knows the system calls (vprintf, malloc, ...) and reports the others where they
 * are called. */
struct ptx_image *ptx_link(struct arena *arena, struct ptx_module **modules, uint32_t n, struct diags *diags);

/* Reports kernels with more static shared memory than CUDA gives them (link_shared.c). Part of
 * ptx_link(). */
void ptx_check_shared(struct ptx_module *const *modules, uint32_t n, struct diags *diags);

/* The kernel of this name, or NULL. */
struct ptx_func *ptx_find_kernel(const struct ptx_image *image, struct str name);

#endif
