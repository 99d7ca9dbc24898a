"""What a page of heddle explain has for its script."""
import json
import re

DATA = re.compile(r'(<script type="application/json" id="data">\n)(.*?)(\n</script>)', re.S)


def data_of(text):
    """What cli/explanation_page.c has packed."""
    texts, shapes, whole = json.loads(DATA.search(text).group(2))
    seen = []

    def value(x):
        if isinstance(x, str):
            return texts[int(x, 36)]
        if not isinstance(x, list):
            return x
        if x[0] == -1:
            return seen[x[1]]
        parts = [value(part) for part in x[1:]]
        made = dict(zip(shapes[x[0] - 1], parts)) if x[0] else parts
        if len(x) > 3:
            seen.append(made)
        return made
    return value(whole)
