#include "cuda_fp16.h" /* which has all of it */
