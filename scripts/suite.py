"""Suites of other projects' programs, and the part of docs/PROGRAMS.md that each suite writes.

A suite is a file of suites/ that defines SUITE, its description. Two functions of it list its programs: one returns their names, in groups, the
other the program of a name.
"""
import collections
import dataclasses
import os
import random
import re
import subprocess
import typing

from running import cell
from trial import HEDDLE_CC, NVCC

HEAD = "| {}compiled by | tried | compile | pass | run | not done in time | fail |"


@dataclasses.dataclass
class Suite:
    title: str
    about: str
    sources: dict                                # folder below FOLDER: where it is cloned from
    names: typing.Callable                       # (FOLDER) -> {group: [name]}
    program: typing.Callable                     # (FOLDER, group, name) -> trial.Program
    ways: tuple = (NVCC, HEDDLE_CC)
    limit: int = 60                              # seconds of processor time of a program
    sample: int = 0                              # so many of each group, where the command names no other number; 0: all
    silent: tuple = ()                           # groups of which the page shows only what does not pass
    remarks: str = ""


def fetch(suite, folder):
    for name, url in suite.sources.items():
        if not os.path.exists(os.path.join(folder, name)):
            subprocess.run(["git", "clone", "--depth", "1", url, os.path.join(folder, name)], check=True)


def chosen(suite, folder, sample):
    """(group, name, program): all of them in order; with a sample, in an order that is random and always the same."""
    for group, names in suite.names(folder).items():
        names = sorted(names)
        if sample:
            random.Random(1).shuffle(names)
        for name in names:
            yield group, name, suite.program(folder, group, name)


def lacks_data(results):
    """It wants a file that is not in the repository, whoever has compiled it."""
    pattern = r"No such file or directory|(?:not|[Uu]nable|[Ff]ailed to|[Nn]ot able to) (?:to )?(?:open|import)"
    return bool(results) and all(how == "fails" and re.search(pattern, why) for how, _, why in results.values())


def works(result):
    return result[0] in ("passes", "runs")


# ---- its part of the page; `done`: {(group, name): ({way: result}, program)}, `left_out`: {what it needs: [name]} ----

def sums(done, ways):
    groups = list(dict.fromkeys(group for group, _ in done))
    named = len(groups) > 1
    lines = [HEAD.format("of | " if named else ""), "|---" * (8 if named else 7) + "|"]
    for group in groups:
        for way in ways:
            results = [r[way.name][0] for (g, _), (r, _) in done.items() if g == group and way.name in r]
            count = lambda *how: sum(r in how for r in results)
            if results:
                lines.append(f"| {f'{group} | ' if named else ''}{way.name} | {len(results)} | {len(results) - count('does not compile')} | {count('passes')} | "
                             f"{count('runs')} | {count('not done', 'compiles')} | {count('fails')} |")
    return lines


def row(name, results, program, ways):
    parts = [f"{results[way.name][0]} | {results[way.name][1]:.1f}" if way.name in results else "not tried | " for way in ways]
    whys = [program.why] if program.why and not all(map(works, results.values())) else list(dict.fromkeys(cell(why) for _, _, why in results.values() if why))
    return f"| {name} {cell(program.about())}".rstrip() + f" | {' | '.join(parts)} | {'; '.join(whys)} |"


def both(done, ways):
    """What works as nvcc has compiled it, and how much of that by `heddle cc`."""
    results = [r for r, _ in done.values() if HEDDLE_CC.name in r and all(way.name in r for way in ways)]
    by_nvcc = [r for r in results if all(works(r[way.name]) for way in ways if way.by_nvcc)]
    if not any(way.by_nvcc for way in ways) or not by_nvcc:
        return []
    return [f"Of the {len(by_nvcc)} that pass or run as nvcc has compiled them, {sum(works(r[HEDDLE_CC.name]) for r in by_nvcc)} do so by `heddle cc`, too.", ""]


def commit(folder, name):
    return subprocess.run(["git", "-C", os.path.join(folder, name), "log", "-1", "--format=%h of %as"], capture_output=True, text=True).stdout.strip()


def part(suite, key, folder, done, left_out, sample, limit):
    checkouts = "; ".join(f"{url} at {commit(folder, name)}" for name, url in suite.sources.items())
    ways = [way for way in suite.ways if any(way.name in r for r, _ in done.values())]
    lines = [f"## {suite.title}", "", suite.about, "", f"{checkouts}. {f'A sample of {sample}; ' if sample else ''}"
             f"{limit or suite.limit} s of processor time a program.", "", *([suite.remarks, ""] if suite.remarks else []), *both(done, ways), *sums(done, ways)]
    shown = {name: r for name, r in done.items() if name[0] not in suite.silent or not all(works(result) for result in r[0].values())}
    if shown:
        lines += ["", f"| program | {' | '.join(f'{way.name} | seconds' for way in ways)} | why |", "|---" * (2 + 2 * len(ways)) + "|"]
        lines += [row(name, r, program, ways) for (_, name), (r, program) in shown.items()]
    if left_out:
        lines += ["", f"{sum(map(len, left_out.values()))} more are not tried:", "", "| need | programs |", "|---|---|"]
        lines += [f"| {what} | {len(names)}: {', '.join(sorted(names))} |" for what, names in sorted(left_out.items())]
    return "\n".join(lines)


def overview(page):
    """A row of each part of the page, of what stands there."""
    lines = ["| suite | compiled by | tried | pass or run | not done in time | fail | do not compile |", "|---|---|---|---|---|---|---|"]
    for title, text in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page, re.M | re.S):
        table = re.search(r"^\| (?:of \| )?compiled by \| tried .*\n.*\n((?:\|.*\n)+)", text, re.M)
        by_way = collections.defaultdict(lambda: [0] * 6)
        for line in table.group(1).splitlines() if table else []:
            cells = [c.strip() for c in line.strip("| ").split("|")]
            by_way[cells[-7]] = [a + int(b) for a, b in zip(by_way[cells[-7]], cells[-6:])]
        for way, (tried, compiled, passed, ran, late, failed) in by_way.items():
            lines.append(f"| {title} | {way} | {tried} | {passed + ran} | {late} | {failed} | {tried - compiled} |")
    return "\n".join(lines)
