/* heddle-tools: finds the tool of a name; see tools.h. */
#include "toolkit/tools.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "heddle.h"

static int refuse_cudafe(struct tool *t)
{
    return tool_fail(t, "clang compiles CUDA C++ directly, so there is no translated source: compile with nvcc");
}

static const struct {
    const char *name;
    int (*run)(struct tool *t);
    const char *does;
} tools[] = {
    {"bin2c", tool_bin2c, "writes a file as an array of C"},
    {"cudafe++", refuse_cudafe, "exists for build systems that look for nvcc's front end; clang does its work"},
    {"cuobjdump", tool_cuobjdump, "shows the PTX in programs, objects, libraries and images"},
    {"fatbinary", tool_fatbinary, "packs PTX and images of PTX into a fat binary"},
    {"nvlink", tool_nvlink, "links the PTX of objects, libraries and images to one image"},
};

enum { N_TOOLS = sizeof tools / sizeof tools[0] };

static int run(struct arena *arena, int argc, char **argv)
{
    struct tool t = {.arena = arena, .name = argc > 1 ? argv[1] : "", .words = argv, .n = argc, .at = 2};
    for (int i = 0; i < N_TOOLS; i++) {
        if (strcmp(t.name, tools[i].name) != 0)
            continue;
        if (argc > 2 && (strcmp(argv[2], "--version") == 0 || strcmp(argv[2], "-V") == 0)) {
            printf("%s: Heddle %s; it %s\nin the place of:\nCuda compilation tools, release 13.0, V13.0.0\n", t.name,
                   hd_version(), tools[i].does);
            return 0;
        }
        return tools[i].run(&t);
    }
    fputs("usage: heddle-tools NAME ARG...\n\n", stderr);
    for (int i = 0; i < N_TOOLS; i++)
        fprintf(stderr, "  %-10s %s\n", tools[i].name, tools[i].does);
    return 2;
}

static int out_of_memory(void)
{
    fputs("heddle-tools: out of memory\n", stderr);
    return 255;
}

int main(int argc, char **argv)
{
    static struct arena arena;
    jmp_buf oom;
    arena.on_oom = &oom;
    int status = setjmp(oom) == 0 ? run(&arena, argc, argv) : out_of_memory();
    arena.on_oom = NULL;
    arena_free(&arena);
    return status;
}
