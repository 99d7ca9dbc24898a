/* With -rdc=true, an object's code calls __cudaRegisterLinkedBinary_ID at its start, a function of which each object has its
 * own and which the linking tool writes. Ours collects the fat binaries of all objects, and registers them as one when the
 * last has come: a wrapper of version 2, whose second pointer leads to a list. See cc.h.
 */
#include "cli/cc.h"

static const char head[] =
    "struct wrapper {\n"
    "    unsigned magic, version;\n"
    "    const void *container;\n"
    "    const void *const *objects;\n"
    "};\n"
    "void **__cudaRegisterFatBinary(void *);\n"
    "void __cudaRegisterFatBinaryEnd(void **);\n"
    "void __cudaUnregisterFatBinary(void **);\n"
    "int atexit(void (*)(void));\n"
    "static const struct { unsigned magic; unsigned short version, header; unsigned long long bytes; } nothing = "
    "{0xba55ed50, 1, 16, 0};\n";

static const char body[] =
    "static const void *objects[COUNT + 1];\n"
    "static void (*globals[COUNT])(void **);\n"
    "static struct wrapper all __attribute__((section(\".nvFatBinSegment\"))) = {0x466243b1, 2, &nothing, objects};\n"
    "static void **handle;\n"
    "static void leave(void) { __cudaUnregisterFatBinary(handle); }\n"
    "static void arrive(void (*register_globals)(void **), const struct wrapper *object)\n"
    "{\n"
    "    static int arrived;\n"
    "    objects[arrived] = object->container;\n"
    "    globals[arrived++] = register_globals;\n"
    "    if (arrived < COUNT)\n"
    "        return;\n"
    "    handle = __cudaRegisterFatBinary(&all);\n"
    "    for (int i = 0; i < COUNT; i++)\n"
    "        globals[i](handle);\n"
    "    __cudaRegisterFatBinaryEnd(handle);\n"
    "    atexit(leave);\n"
    "}\n";

const char *cc_registry(const cc_words *calls, struct arena *arena)
{
    const char *text = arena_printf(arena, "%senum { COUNT = %u };\n%s", head, calls->n, body);
    for (uint32_t i = 0; i < calls->n; i++)
        text =
            arena_printf(arena,
                         "%svoid %s(void (*globals)(void **), const struct wrapper *object, void *id, void *callback)\n"
                         "{\n    arrive(globals, object);\n}\n",
                         text, calls->at[i]);
    return text;
}
