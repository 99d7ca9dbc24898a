/* coherence.c compiled for graphs whose sets have more than one word. */
#define COHERENCE_WIDE
#include "explore/coherence.c"
