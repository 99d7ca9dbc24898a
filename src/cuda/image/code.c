/* See code.h. */
#include "cuda/image/code.h"

#include <stdlib.h>
#include <string.h>

bool image_set_code(struct image_text *text, hd_ptx *ptx, const hd_ptx_code *code)
{
    size_t bytes;
    if (!code->keep_products && !code->max_registers)
        return true;
    const char *rewritten = hd_ptx_rewrite(ptx, code, &bytes);
    char *copy = rewritten ? strndup(rewritten, bytes) : NULL;
    if (!copy)
        return false;
    free(text->text);
    *text = (struct image_text){copy, bytes, text->arch};
    return true;
}
