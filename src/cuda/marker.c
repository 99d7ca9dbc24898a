/* See marker.h. */
#include "cuda/marker.h"

__attribute__((section(HEDDLE_MARKER), used, retain)) static const char heddle_version[] = HEDDLE_VERSION;
