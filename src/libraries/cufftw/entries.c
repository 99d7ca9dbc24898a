/* cuFFTW's entry points. */
#include "libraries/common/library.h"
#include "libraries/cufftw/plan.h"

#include <stdlib.h>

#define FFTW(name) fftw_##name
#define REAL       double
#define TYPE       TRANSFORM_DOUBLE
#include "libraries/cufftw/entries.h"
#undef FFTW
#undef REAL
#undef TYPE

#define FFTW(name) fftwf_##name
#define REAL       float
#define TYPE       TRANSFORM_FLOAT
#include "libraries/cufftw/entries.h"
