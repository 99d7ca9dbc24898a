/* Writes options of code generation into an image's PTX. Private to cuda/ and toolkit/. */
#ifndef HEDDLE_CUDA_IMAGE_CODE_H
#define HEDDLE_CUDA_IMAGE_CODE_H

#include "cuda/image/fatbin.h"
#include "heddle.h"

/* Adds the options to the text, whose parsed form is `ptx`, if there are any. False: memory is
 * exhausted. */
bool image_set_code(struct image_text *text, hd_ptx *ptx, const hd_ptx_code *code);

#endif
