/* See isa_table.h. */
#include "cli/isa_table.h"

#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was asked for ---- */

/* Does the command line name it? Without words, everything is wanted. A word may be a whole
   instruction: "atom.add.f32" names atom. */
static bool is_wanted(const struct session *s, char sigil, const char *name)
{
    for (int i = 0; i < s->n_words; i++) {
        const char *w = s->words[i];
        bool reg = w[0] == '%';
        if (reg == (sigil == '%') && str_eq((struct str){w + reg, strcspn(w, ".") - reg}, str_of(name)))
            return true;
    }
    return s->n_words == 0;
}

static bool exists(const char *word)
{
    hd_isa_form f;
    hd_isa_register r;
    bool reg = word[0] == '%';
    struct str name = {word + reg, strcspn(word, ".") - reg};
    for (size_t i = 0; !reg && hd_isa_get_form(i, &f); i++)
        if (str_is(name, f.opcode))
            return true;
    for (size_t i = 0; reg && hd_isa_get_register(i, &r); i++)
        if (str_is(name, r.name))
            return true;
    return false;
}

static int check_words(struct session *s)
{
    for (int i = 0; i < s->n_words; i++) {
        const char *near = s->words[i][0] == '%' ? NULL : hd_isa_suggest(s->words[i]);
        if (exists(s->words[i]))
            continue;
        if (near)
            return usage_error(s, "there is no instruction `%s`; did you mean `%s`?", s->words[i], near);
        return usage_error(s, "there is no %s `%s`; `heddle ptx --isa` lists all",
                           s->words[i][0] == '%' ? "register" : "instruction", s->words[i]);
    }
    return 0;
}

/* ---- text and Markdown ---- */

/* Does a syntax mention the set? Sets are in capitals, between dots, braces and "=". */
static bool names_set(const char *syntax, const char *set)
{
    size_t n = strlen(set);
    for (const char *at = strstr(syntax, set); at; at = strstr(at + 1, set))
        if (at > syntax && at[-1] == '.' && (at[n] == 0 || strchr(".{}=", at[n])))
            return true;
    return false;
}

static void put_set(const hd_isa_set *set, const char *before, const char *after)
{
    printf("%s.%s = .", before, set->name);
    for (const char *c = set->words; *c; c++)
        if (*c == ' ')
            fputs(" .", stdout);
        else
            putchar(*c);
    puts(after);
}

/* Prints the sets that the forms from `first` to end - 1 mention. */
static void put_sets(size_t first, size_t end, const char *before, const char *after)
{
    hd_isa_set set;
    hd_isa_form f;
    for (size_t i = 0; hd_isa_get_set(i, &set); i++)
        for (size_t k = first; k < end && hd_isa_get_form(k, &f); k++)
            if (names_set(f.syntax, set.name)) {
                put_set(&set, before, after);
                break;
            }
}

static void put_form_text(const hd_isa_form *f, struct arena *arena)
{
    const char *use = arena_printf(arena, "%s%s%s%s", f->opcode, f->syntax, *f->operands ? " " : "", f->operands);
    printf("  %-60s PTX %u.%u, %s", use, f->ptx_major, f->ptx_minor, f->target);
    if (f->missing)
        printf("; not run: no %s", f->missing);
    putchar('\n');
}

/* Returns the index behind the last form of the opcode that starts at `first`. */
static size_t end_of_opcode(size_t first)
{
    hd_isa_form f, g;
    size_t end = first + 1;
    hd_isa_get_form(first, &f);
    while (hd_isa_get_form(end, &g) && strcmp(f.opcode, g.opcode) == 0)
        end++;
    return end;
}

/* Finds the next opcode that is wanted, from form *end on: its forms are *at to *end
 * - 1, the first of them *f. */
static bool next_opcode(const struct session *s, size_t *at, size_t *end, hd_isa_form *f)
{
    for (*at = *end; hd_isa_get_form(*at, f); *at = *end) {
        *end = end_of_opcode(*at);
        if (is_wanted(s, 0, f->opcode))
            return true;
    }
    return false;
}

static void print_text(struct session *s)
{
    hd_isa_form f;
    hd_isa_register r;
    for (size_t i, end = 0; next_opcode(s, &i, &end, &f);) {
        printf("%s (PTX ISA %s): %s\n", f.opcode, f.section, f.doc);
        for (size_t k = i; k < end && hd_isa_get_form(k, &f); k++)
            put_form_text(&f, &s->arena);
        put_sets(i, end, "    ", "");
    }
    for (size_t i = 0; hd_isa_get_register(i, &r); i++)
        if (is_wanted(s, '%', r.name))
            printf("%%%s%s  .%s  PTX %u.%u, %s: %s\n", r.name, r.components > 1 ? ".{x,y,z}" : "", r.type, r.ptx_major,
                   r.ptx_minor, r.target, r.doc);
}

/* Writes a cell of the table. A "|" is escaped, because it would end the cell. */
static void put_cell(const char *text)
{
    for (; *text; text++)
        fputs(*text == '|' ? "\\|" : (char[]){*text, 0}, stdout);
}

/* Recorded answers come from an H200, whose architecture is sm_90. */
static const char *remark_of(struct arena *arena, const hd_isa_form *f)
{
    bool is_later = strtoul(f->target + strlen("sm_"), NULL, 10) >= 100;
    return f->missing ? arena_printf(arena, "needs %s", f->missing)
           : is_later ? "by the specification, not recorded"
                      : "";
}

/* Prints a line for each requirement of the missing forms, with the opcodes that have it. */
static void print_missing(struct session *s)
{
    hd_isa_form f, g;
    struct map seen;
    map_init(&seen, &s->arena);
    puts("Heddle refuses a kernel that reaches one of these, by name:\n");
    for (size_t i = 0; hd_isa_get_form(i, &f); i++) {
        const char *last = "";
        if (!f.missing || map_put(&seen, str_of(f.missing), &seen))
            continue;
        printf("- %s:", f.missing);
        for (size_t k = i; hd_isa_get_form(k, &g); k++)
            if (g.missing && strcmp(g.missing, f.missing) == 0 && strcmp(g.opcode, last) != 0) {
                printf("%s `%s`", *last ? "," : "", g.opcode);
                last = g.opcode;
            }
        putchar('\n');
    }
    putchar('\n');
}

static void print_markdown(struct session *s)
{
    hd_isa_form f;
    hd_isa_register r;
    puts("# The instruction set\n\n"
         "Made from the tables of src/isa by `heddle ptx --isa --markdown`. In a form, `.word` is required, and "
         "`{.word}` may\n"
         "be left out (`=` shows what that means). `.<a,b>` is one of these types. A name in capitals is one word of "
         "the set\n"
         "below the table; `*` is anything. Modifiers may be in any order. The version and the target are those that\n"
         "introduced the form; its modifiers may need more. Forms that \"need\" something can be read and verified, "
         "but a\n"
         "kernel that reaches one is refused before it is launched. Forms are tested against recorded answers of an "
         "H200;\n"
         "forms of later targets follow the text of the PTX ISA.\n");
    print_missing(s);
    for (size_t i, end = 0; next_opcode(s, &i, &end, &f);) {
        printf("## %s\n\n%s (PTX ISA %s)\n\n| form | operands | PTX | target | remarks |\n|---|---|---|---|---|\n",
               f.opcode, f.doc, f.section);
        for (size_t k = i; k < end && hd_isa_get_form(k, &f); k++) {
            printf("| `%s", f.opcode);
            put_cell(f.syntax);
            fputs("` | ", stdout);
            put_cell(f.operands);
            printf(" | %u.%u | %s | %s |\n", f.ptx_major, f.ptx_minor, f.target, remark_of(&s->arena, &f));
        }
        putchar('\n');
        put_sets(i, end, "`", "`  ");
        putchar('\n');
    }
    puts("## Special registers\n\n| register | type | PTX | target | value |\n|---|---|---|---|---|");
    for (size_t i = 0; hd_isa_get_register(i, &r); i++)
        printf("| `%%%s` | .%s%s | %u.%u | %s | %s |\n", r.name, r.components > 1 ? "v4 ." : "", r.type, r.ptx_major,
               r.ptx_minor, r.target, r.doc);
}

/* ---- JSON ---- */

static json_t *words_json(const char *words)
{
    json_t *list = json_array();
    while (*words) {
        size_t n = strcspn(words, " ");
        json_array_append_new(list, json_stringn(words, n));
        words += n + (words[n] == ' ');
    }
    return list;
}

static int print_all_json(struct session *s)
{
    json_t *forms = json_array(), *sets = json_object(), *registers = json_array();
    hd_isa_form f;
    hd_isa_set set;
    hd_isa_register r;
    for (size_t i = 0; hd_isa_get_form(i, &f); i++)
        if (is_wanted(s, 0, f.opcode))
            json_array_append_new(forms,
                                  json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:b, s:s?}", "opcode", f.opcode,
                                            "section", f.section, "doc", f.doc, "syntax", f.syntax, "operands",
                                            f.operands, "ptx", json_sprintf("%u.%u", f.ptx_major, f.ptx_minor),
                                            "target", f.target, "runs", f.missing == NULL, "missing", f.missing));
    for (size_t i = 0; hd_isa_get_set(i, &set); i++)
        json_object_set_new(sets, set.name, words_json(set.words));
    for (size_t i = 0; hd_isa_get_register(i, &r); i++)
        if (is_wanted(s, '%', r.name))
            json_array_append_new(registers, json_pack("{s:s, s:s, s:I, s:o, s:s, s:s}", "name", r.name, "type", r.type,
                                                       "components", (json_int_t)r.components, "ptx",
                                                       json_sprintf("%u.%u", r.ptx_major, r.ptx_minor), "target",
                                                       r.target, "doc", r.doc));
    return print_json(s, json_pack("{s:o, s:o, s:o}", "forms", forms, "sets", sets, "registers", registers));
}

int isa_table(struct session *s)
{
    if (s->o.json && s->o.markdown)
        return usage_error(s, "`--json` and `--markdown` exclude each other");
    int status = check_words(s);
    if (status)
        return status;
    if (s->o.json)
        status = print_all_json(s);
    else if (s->o.markdown)
        print_markdown(s);
    else
        print_text(s);
    return status;
}
