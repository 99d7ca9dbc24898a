/* With -rdc=true, an object's code calls __cudaRegisterLinkedBinary_ID at its start, a function of
 * which each object has its own and which the linking tool writes. Ours collects the fat binaries
 * of all objects, and registers them as one when the last has come: a wrapper of version 2, whose
 * second pointer leads to a list. Their wrappers ask the host's linker for all members of
 * libraries; they are hidden, so that those of a shared library stand for none of a program that
 * has the same sources. See cc.h.
 */
#include "base/text.h"
#include "cc/cc.h"

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
    "    for (int i = 0; i < arrived; i++)\n"
    "        globals[i](handle);\n"
    "    __cudaRegisterFatBinaryEnd(handle);\n"
    "    atexit(leave);\n"
    "}\n";

const char *cc_registry(const struct cc_units *units, struct arena *arena)
{
    struct text t = {.arena = arena};
    uint32_t n = units->all.n;
    if (n == 0)
        return "";
    text_printf(&t, "%senum { COUNT = %u };\n", head, n);
    for (uint32_t i = 0; i < n; i++)
        text_printf(&t, "extern const struct wrapper __fatbinwrap_%s __attribute__((visibility(\"hidden\")));\n",
                    units->all.at[i]);
    text_puts(&t, "static const struct wrapper *const units[COUNT] __attribute__((used)) = {");
    for (uint32_t i = 0; i < n; i++)
        text_printf(&t, "&__fatbinwrap_%s,", units->all.at[i]);
    text_printf(&t, "};\n%s", body);
    for (uint32_t i = 0; i < n; i++)
        text_printf(&t,
                    "__attribute__((visibility(\"hidden\")))\n"
                    "void __cudaRegisterLinkedBinary_%s(void (*globals)(void **), const struct wrapper *object, void "
                    "*id, void *callback)\n"
                    "{\n    arrive(globals, object);\n}\n",
                    units->all.at[i]);
    return t.p;
}
