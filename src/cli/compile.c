/* heddle cc: the compiler driver (src/cc), which reads all its arguments itself. */
#include "cc/cc.h"
#include "cli/cli.h"

int cmd_cc(struct session *s)
{
    return cc_main(s->n_words, (char **)s->words, s->command->usage, s->command->details, &s->arena);
}
