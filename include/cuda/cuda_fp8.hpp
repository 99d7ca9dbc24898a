#include "cuda_fp8.h" /* which has all of it */
