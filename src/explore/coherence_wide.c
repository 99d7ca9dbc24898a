/* The same axioms, of graphs whose sets are more than one word. */
#define COHERENCE_WIDE
#include "explore/coherence.c"
