/* The page that shows the figures: one HTML file with data, style and scripts inside
 * (src/explain/page/), which opens from disk and loads nothing else. */
#ifndef HEDDLE_EXPLAIN_PAGE_H
#define HEDDLE_EXPLAIN_PAGE_H

#include "base/text.h"

/* `json`: as --json writes it. */
void page_write(struct text *t, const char *json);

/* The page before and behind its data; made by the build. */
extern const char page_head[], page_tail[];

#endif
