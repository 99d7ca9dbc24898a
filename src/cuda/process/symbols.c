/* See symbols.h. Lines come from DWARF (DWARF 5, 6.2), the calls of inlined functions from
 * DW_TAG_inlined_subroutine (3.3.8.2), names of functions without DWARF from the symbol table. */
#include "cuda/process/symbols.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Local only: dwfl_standard_find_debuginfo would ask a debuginfod server. */
static char *debuginfo_path;
static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                         .find_debuginfo = dwfl_build_id_find_debuginfo,
                                         .debuginfo_path = &debuginfo_path};
static Dwfl *dwfl;

/* Reports the currently mapped objects. */
static bool report_modules(void)
{
    if (!dwfl && !(dwfl = dwfl_begin(&callbacks)))
        return false;
    dwfl_report_begin_add(dwfl);
    bool good = dwfl_linux_proc_report(dwfl, getpid()) == 0;
    return dwfl_report_end(dwfl, NULL, NULL) == 0 && good;
}

static Dwfl_Module *module_at(Dwarf_Addr address)
{
    Dwfl_Module *m = dwfl ? dwfl_addrmodule(dwfl, address) : NULL;
    return m || !report_modules() ? m : dwfl_addrmodule(dwfl, address);
}

static const char *linkage_name(Dwarf_Die *die)
{
    static const unsigned names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
    Dwarf_Attribute attribute;
    const char *name = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !name; i++)
        name = dwarf_formstring(dwarf_attr_integrate(die, names[i], &attribute));
    return name;
}

/* The folder that file names may be relative to (DWARF 5, 6.2.4.1). */
static const char *folder_of(Dwarf_Die *cu)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr(cu, DW_AT_comp_dir, &attribute));
}

/* Where an inlined function was called. */
static void call_place(Dwarf_Die *cu, Dwarf_Die *inlined, struct symbol *caller)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file, line;
    Dwarf_Files *files;
    caller->file = NULL;
    caller->folder = folder_of(cu);
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) || dwarf_getsrcfiles(cu, &files, NULL))
        return;
    caller->file = dwarf_filesrc(files, file, NULL, NULL);
    caller->line = (unsigned)line;
}

/* The functions around an address, the innermost first; symbols[0] has the address's line. */
static size_t enclosing(Dwarf_Die *cu, Dwarf_Addr address, struct symbol *symbols, size_t n)
{
    Dwarf_Die *inner = NULL, *scopes = NULL;
    size_t found = 0;
    if (dwarf_getscopes(cu, address, &inner) <= 0)
        return 0;
    int count = dwarf_getscopes_die(&inner[0], &scopes);
    for (int i = 0; i < count && found < n; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        symbols[found++].function = linkage_name(&scopes[i]);
        if (tag == DW_TAG_subprogram)
            break;
        if (found < n)
            call_place(cu, &scopes[i], &symbols[found]);
    }
    free(scopes);
    free(inner);
    return found;
}

/* Searches the compilation units: clang writes no address table (.debug_aranges). */
static Dwarf_Die *unit_at(Dwfl_Module *m, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *cu = dwfl_module_addrdie(m, address, bias);
    if (cu)
        return cu;
    while ((cu = dwfl_module_nextcu(m, cu, bias)))
        if (dwarf_haspc(cu, address - *bias) > 0)
            return cu;
    return NULL;
}

EXPORT size_t heddle_symbols_at(uintptr_t address, struct symbol *symbols, size_t n)
{
    Dwfl_Module *m = n ? module_at(address) : NULL;
    Dwarf_Addr bias = 0;
    if (!m)
        return 0;
    memset(symbols, 0, n * sizeof *symbols);
    Dwarf_Die *cu = unit_at(m, address, &bias);
    Dwarf_Line *line = cu ? dwarf_getsrc_die(cu, address - bias) : NULL;
    int number = 0;
    if (line && dwarf_lineno(line, &number) == 0 && (symbols[0].file = dwarf_linesrc(line, NULL, NULL)))
        symbols[0].line = (unsigned)number;
    symbols[0].folder = cu ? folder_of(cu) : NULL;
    size_t found = cu ? enclosing(cu, address - bias, symbols, n) : 0;
    if (found)
        return found;
    symbols[0].function = dwfl_module_addrname(m, address);
    return symbols[0].function || symbols[0].file ? 1 : 0;
}
