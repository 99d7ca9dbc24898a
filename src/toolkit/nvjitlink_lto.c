/* LTO-IR, which is a format of NVIDIA's own: NVIDIA's library reads it, where the program has
 * loaded one, and links it to PTX. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/nvjitlink.h"

#define TEXT(number)  TEXT_(number)
#define TEXT_(number) #number

/* Its function, where a program has loaded it and it has been replaced by this library: the
 * preloaded library knows. */
static void *theirs(const char *name)
{
    void *(*original)(const char *library, const char *name) = dlsym(RTLD_DEFAULT, "heddle_original");
    return original ? original("libnvJitLink.so." TEXT(NVJITLINK_MAJOR), name) : NULL;
}

/* What it has to say goes into our log. */
static void take_log(nvJitLinkHandle h)
{
    nvJitLinkResult (*get_size)(nvJitLinkHandle, size_t *) = theirs("nvJitLinkGetErrorLogSize");
    nvJitLinkResult (*get_text)(nvJitLinkHandle, char *) = theirs("nvJitLinkGetErrorLog");
    size_t size = 0;
    char *text = get_size && get_text && !get_size(h->theirs, &size) ? calloc(1, size + 1) : NULL;
    if (text && !get_text(h->theirs, text))
        link_log(&h->errors, "%s", text);
    free(text);
}

/* A link of its own, with the same options, to PTX. */
static nvJitLinkResult begin_lto(nvJitLinkHandle h)
{
    nvJitLinkResult (*create)(nvJitLinkHandle *, uint32_t, const char **) = theirs("nvJitLinkCreate");
    const char **options = calloc(h->n_options + 2, sizeof *options);
    uint32_t n = 0;
    bool has_ptx = false;
    if (!options)
        return NVJITLINK_ERROR_INTERNAL;
    for (uint32_t i = 0; i < h->n_options; i++) {
        has_ptx |= strcmp(h->options[i], "-ptx") == 0;
        options[n++] = h->options[i];
    }
    if (!has_ptx)
        options[n++] = "-ptx";
    nvJitLinkResult result = create ? create(&h->theirs, n, options) : NVJITLINK_ERROR_INTERNAL;
    if (result && h->theirs)
        take_log(h);
    free(options);
    return result;
}

nvJitLinkResult link_add_lto(nvJitLinkHandle h, nvJitLinkInputType type, const void *data, size_t bytes,
                             const char *name)
{
    nvJitLinkResult (*add)(nvJitLinkHandle, nvJitLinkInputType, const void *, size_t, const char *) =
        theirs("nvJitLinkAddData");
    if (!add) {
        link_log(&h->errors,
                 "%s: Heddle links PTX; for LTO-IR it needs NVIDIA's nvJitLink, which was not found: compile to PTX, "
                 "or install it (numba: pip install 'numba-cuda[cu" TEXT(NVJITLINK_MAJOR) "]')\n",
                 name);
        return NVJITLINK_ERROR_NVVM_COMPILE;
    }
    nvJitLinkResult result = h->theirs ? NVJITLINK_SUCCESS : begin_lto(h);
    if (result)
        return result;
    result = add(h->theirs, type, data, bytes, name);
    if (result)
        take_log(h);
    return result;
}

/* NVIDIA's library writes .volatile for local memory, too, which its assembler refuses where it
 * reads a text: nobody else accesses a thread's local memory. */
static void drop_volatile_of_local(char *text)
{
    static const char both[] = ".volatile.local";
    const size_t dropped = sizeof ".volatile" - 1;
    char *to = text, *from = text;
    for (char *at; (at = strstr(from, both)); from = at + dropped) {
        memmove(to, from, (size_t)(at - from));
        to += at - from;
    }
    memmove(to, from, strlen(from) + 1);
}

nvJitLinkResult link_finish_lto(nvJitLinkHandle h)
{
    nvJitLinkResult (*complete)(nvJitLinkHandle) = theirs("nvJitLinkComplete");
    nvJitLinkResult (*get_size)(nvJitLinkHandle, size_t *) = theirs("nvJitLinkGetLinkedPtxSize");
    nvJitLinkResult (*get_ptx)(nvJitLinkHandle, char *) = theirs("nvJitLinkGetLinkedPtx");
    size_t size = 0;
    nvJitLinkResult result = complete && get_size && get_ptx ? complete(h->theirs) : NVJITLINK_ERROR_INTERNAL;
    if (!result)
        result = get_size(h->theirs, &size);
    free(h->ptx);
    h->ptx = result ? NULL : calloc(1, size + 1);
    if (!result)
        result = h->ptx ? get_ptx(h->theirs, h->ptx) : NVJITLINK_ERROR_INTERNAL;
    if (!result)
        drop_volatile_of_local(h->ptx);
    if (result)
        take_log(h);
    return result;
}

void link_end_lto(nvJitLinkHandle h)
{
    nvJitLinkResult (*destroy)(nvJitLinkHandle *) = h->theirs ? theirs("nvJitLinkDestroy") : NULL;
    if (destroy)
        destroy(&h->theirs);
}
