/* What shares memory with OpenGL ("CUDA Runtime API", "OpenGL Interoperability") is refused by
 * name, before anything else is missed. */
#error "Heddle has no display, so OpenGL cannot share its memory"
