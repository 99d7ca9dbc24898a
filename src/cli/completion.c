/* heddle completion: scripts from which shells learn the commands and their options. */
#include <ctype.h>
#include <stdio.h>

#include "cli/cli.h"

/* All options of a command's variants, each once. */
static opt_lines all_lines(const struct command *c, struct arena *arena)
{
    const struct command *programs = command_for_programs(c);
    opt_lines lines = command_option_lines(c, arena), more = {0};
    if (programs)
        more = command_option_lines(programs, arena);
    for (uint32_t i = 0, known = lines.n; i < more.n; i++) {
        bool is_new = true;
        for (uint32_t k = 0; k < known; k++)
            is_new &= strcmp(lines.at[k].long_name, more.at[i].long_name) != 0;
        if (is_new)
            *VEC_PUSH(arena, &lines) = more.at[i];
    }
    return lines;
}

/* "text|json|sarif": returns the words with `separator` between them; NULL if one of them is a
 * placeholder. */
static const char *choices(const char *value, char separator, struct arena *arena)
{
    if (!strchr(value, '|'))
        return NULL;
    char *words = arena_strndup(arena, value, strlen(value));
    for (char *c = words; *c; c++) {
        if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '|' && *c != '-')
            return NULL;
        if (*c == '|')
            *c = separator;
    }
    return words;
}

static bool is_file(const char *value)
{
    return strncmp(value, "FILE", 4) == 0 || strncmp(value, "PROGRAM", 7) == 0;
}

static bool is_folder(const char *value)
{
    return strncmp(value, "FOLDER", 6) == 0 || strncmp(value, "DIR", 3) == 0;
}

/* The help up to its first semicolon, colon or parenthesis, without characters that would end a
   shell's quotes or brackets. */
static const char *short_help(const char *help, struct arena *arena)
{
    size_t n = 0;
    while (help[n] && !strchr(";(", help[n]) && strncmp(help + n, ": ", 2) != 0)
        n++;
    while (n > 0 && help[n - 1] == ' ')
        n--;
    char *text = arena_strndup(arena, help, n);
    for (char *c = text; *c; c++)
        if (strchr("'[]:\\`\"$", *c))
            *c = ' ';
    return text;
}

static bool takes_program(const struct command *c)
{
    return strstr(c->usage, "] PROGRAM") != NULL;
}

/* ---- bash ---- */

static void bash_words(const opt_lines *lines)
{
    const char *space = "";
    for (uint32_t i = 0; i < lines->n; i++) {
        const char *names[] = {lines->at[i].long_name, lines->at[i].short_name};
        for (int k = 0; k < 2; k++)
            if (names[k]) {
                printf("%s%s", space, names[k]);
                space = " ";
            }
    }
}

static const char *bash_names(const struct opt_line *l, struct arena *arena)
{
    return arena_printf(arena, "%s%s%s", l->short_name ? l->short_name : "", l->short_name && l->long_name ? "|" : "",
                        l->long_name ? l->long_name : "");
}

/* Completes the values of options. */
static void bash_values(const opt_lines *lines, struct arena *arena)
{
    for (uint32_t i = 0; i < lines->n; i++) {
        const struct opt_line *l = &lines->at[i];
        const char *words = choices(l->value, ' ', arena), *names = bash_names(l, arena);
        if (words)
            printf("            %s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", names, words);
        else if (is_folder(l->value))
            printf("            %s) compopt -o filenames; COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n", names);
        else if (is_file(l->value))
            printf("            %s) compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", names);
        else if (*l->value)
            printf("            %s) return ;;\n", names);
    }
}

static void bash(struct arena *arena)
{
    fputs("# Completion of heddle for bash: heddle completion bash\n"
          "_heddle()\n"
          "{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          stdout);
    for (const struct command *c = commands; c->name; c++)
        if (c->summary)
            printf("%s ", c->name);
    fputs("help --help --version' -- \"$cur\"))\n"
          "        return\n"
          "    fi\n"
          "    case ${COMP_WORDS[1]} in\n",
          stdout);
    for (const struct command *c = commands; c->name; c++) {
        if (!c->summary)
            continue;
        opt_lines lines = all_lines(c, arena);
        printf("    %s)\n        case $prev in\n", c->name);
        bash_values(&lines, arena);
        fputs("        esac\n        words='", stdout);
        bash_words(&lines);
        fputs("' ;;\n", stdout);
    }
    fputs("    esac\n"
          "    case $cur in\n"
          "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
          "    *) compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
          "    esac\n"
          "}\n"
          "complete -F _heddle heddle\n",
          stdout);
}

/* ---- zsh ---- */

static void zsh_option(const struct opt_line *l, struct arena *arena)
{
    const char *names[] = {l->short_name, l->long_name}, *words = choices(l->value, ' ', arena);
    for (int i = 0; i < 2; i++) {
        if (!names[i])
            continue;
        printf("            '*%s[%s]", names[i], short_help(l->help, arena));
        if (words)
            printf(":value:(%s)", words);
        else if (is_folder(l->value))
            fputs(":folder:_files -/", stdout);
        else if (is_file(l->value))
            fputs(":file:_files", stdout);
        else if (*l->value)
            printf(":%s:", short_help(l->value, arena));
        fputs("' \\\n", stdout);
    }
}

static void zsh(struct arena *arena)
{
    fputs("#compdef heddle\n"
          "# Completion of heddle for zsh: heddle completion zsh\n"
          "_heddle() {\n"
          "    local -a commands\n"
          "    commands=(\n",
          stdout);
    for (const struct command *c = commands; c->name; c++)
        if (c->summary)
            printf("        '%s:%s'\n", c->name, short_help(c->summary, arena));
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    local command=$words[2]\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $command in\n",
          stdout);
    for (const struct command *c = commands; c->name; c++) {
        if (!c->summary)
            continue;
        opt_lines lines = all_lines(c, arena);
        printf("    %s)\n        _arguments \\\n", c->name);
        for (uint32_t i = 0; i < lines.n; i++)
            zsh_option(&lines.at[i], arena);
        printf("            '%s' ;;\n", takes_program(c) ? "*:argument:_files" : "*:file:_files");
    }
    fputs("    esac\n"
          "}\n"
          "if [ \"$funcstack[1]\" = _heddle ]; then\n"
          "    _heddle \"$@\"\n"
          "else\n"
          "    compdef _heddle heddle\n"
          "fi\n",
          stdout);
}

/* ---- fish ---- */

/* A name with one dash: a single letter, or a word as in nvcc's options. */
static void fish_name(const char *name)
{
    if (!name)
        return;
    if (name[1] == '-')
        printf(" -l %s", name + 2);
    else
        printf(" -%c %s", name[2] ? 'o' : 's', name + 1);
}

static void fish(struct arena *arena)
{
    fputs("# Completion of heddle for fish: heddle completion fish\n", stdout);
    for (const struct command *c = commands; c->name; c++)
        if (c->summary)
            printf("complete -c heddle -f -n __fish_use_subcommand -a %s -d '%s'\n", c->name,
                   short_help(c->summary, arena));
    for (const struct command *c = commands; c->name; c++) {
        if (!c->summary)
            continue;
        opt_lines lines = all_lines(c, arena);
        for (uint32_t i = 0; i < lines.n; i++) {
            const struct opt_line *l = &lines.at[i];
            const char *words = choices(l->value, ' ', arena);
            printf("complete -c heddle -n '__fish_seen_subcommand_from %s'", c->name);
            fish_name(l->short_name);
            fish_name(l->long_name);
            if (words)
                printf(" -x -a '%s'", words);
            else if (is_file(l->value) || is_folder(l->value))
                fputs(" -r", stdout);
            else if (*l->value)
                fputs(" -x", stdout);
            printf(" -d '%s'\n", short_help(l->help, arena));
        }
    }
}

int cmd_completion(struct session *s)
{
    static const struct {
        const char *name;
        void (*print)(struct arena *arena);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    if (s->n_words != 1)
        return usage_error(s, "the name of the shell is missing: `heddle completion bash`, zsh or fish");
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(s->words[0], shells[i].name) == 0) {
            shells[i].print(&s->arena);
            return 0;
        }
    return usage_error(s, "there is no completion for `%s`: bash, zsh and fish have one", s->words[0]);
}
