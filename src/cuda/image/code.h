/* PTX of an image, by what options say of the code that comes of it. Private to cuda/ and toolkit/. */
#ifndef HEDDLE_CUDA_IMAGE_CODE_H
#define HEDDLE_CUDA_IMAGE_CODE_H

#include "cuda/image/fatbin.h"
#include "heddle.h"

/* Replaces the text, which has been read as `ptx`, by one that says it, too, where there is
 * something to say. False: memory has run out. */
bool image_set_code(struct image_text *text, hd_ptx *ptx, const hd_ptx_code *code);

#endif
