"""Parts of pages that programs write: each part is between two equal marks."""


def write_between(mark, text, path):
    """Where the page has no such part yet, it comes at the end."""
    with open(path) as f:
        page = f.read()
    if mark not in page:
        page = page.rstrip("\n") + f"\n\n{mark}\n{mark}\n"
    head, _, tail = page.split(mark)
    with open(path, "w") as f:
        f.write(f"{head}{mark}\n{text}\n{mark}{tail}")
