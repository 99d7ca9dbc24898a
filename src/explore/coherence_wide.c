/* The same axioms, of locations with more members than a word has bits. */
#define COHERENCE_WIDE
#include "explore/coherence.c"
