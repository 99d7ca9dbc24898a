#include "cuda_bf16.h" /* which has all of it */
