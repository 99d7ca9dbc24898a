#include <stdint.h> /* for compilers that had none */
