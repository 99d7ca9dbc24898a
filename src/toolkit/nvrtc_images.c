/* libheddle-nvrtc.so.12 and .13: asked for machine code, NVIDIA's NVRTC gives an image that has the
 * PTX. `heddle run` puts jumps to these functions into the library (cuda/process/preload.c); it
 * keeps the PTX of what it has compiled for a device, too ("NVRTC", nvrtcGetPTX), and compiles as
 * ever.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/image/fatbin.h"
#include "cuda/nvrtc.h"

#define EXPORT        __attribute__((visibility("default")))
#define TEXT(number)  TEXT_(number)
#define TEXT_(number) #number

/* A function of the library that the program has loaded. */
static void *theirs(const char *name)
{
    void *library = dlopen("libnvrtc.so." TEXT(NVRTC_MAJOR), RTLD_LAZY | RTLD_NOLOAD);
    void *function = library ? dlsym(library, name) : NULL;
    if (library)
        dlclose(library); /* it stays: the program has it */
    return function;
}

/* The image, from malloc. */
static nvrtcResult make_image(nvrtcProgram program, void **image, size_t *bytes)
{
    nvrtcResult (*get_size)(nvrtcProgram, size_t *) = theirs("nvrtcGetPTXSize");
    nvrtcResult (*get_text)(nvrtcProgram, char *) = theirs("nvrtcGetPTX");
    size_t size = 0;
    if (!get_size || !get_text)
        return NVRTC_ERROR_INTERNAL_ERROR;
    nvrtcResult result = get_size(program, &size);
    if (result)
        return result;
    struct image_text text = {.text = malloc(size + 1)};
    result = text.text ? get_text(program, text.text) : NVRTC_ERROR_OUT_OF_MEMORY;
    if (!result) {
        text.bytes = strnlen(text.text, size);
        *image = image_of_texts(&text, 1, bytes);
        result = *image ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
    }
    free(text.text);
    return result;
}

/* Nothing where the program was compiled for a virtual architecture alone, says the documentation;
 * here there is always an image. */
EXPORT nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes)
{
    void *image = NULL;
    if (!bytes)
        return NVRTC_ERROR_INVALID_INPUT;
    nvrtcResult result = make_image(program, &image, bytes);
    free(image);
    return result;
}

EXPORT nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin)
{
    void *image = NULL;
    size_t bytes;
    if (!cubin)
        return NVRTC_ERROR_INVALID_INPUT;
    nvrtcResult result = make_image(program, &image, &bytes);
    if (!result)
        memcpy(cubin, image, bytes);
    free(image);
    return result;
}
