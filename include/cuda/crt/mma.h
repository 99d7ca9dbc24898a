#include "../mma.h" /* which has all of it */
