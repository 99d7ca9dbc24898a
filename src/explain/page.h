/* The page that shows what was counted: one file of HTML with its data, style and scripts inside
 * (src/explain/page/), which opens from the disk and asks for nothing else. */
#ifndef HEDDLE_EXPLAIN_PAGE_H
#define HEDDLE_EXPLAIN_PAGE_H

#include "base/text.h"

/* `json`: what --json writes. */
void page_write(struct text *t, const char *json);

/* What stands before the data and behind it; made by the build. */
extern const char page_head[], page_tail[];

#endif
