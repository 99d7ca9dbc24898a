#include "../host_defines.h" /* which has all of it */
