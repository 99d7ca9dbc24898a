"""Of any CUDA program: variables as the debugger shows them, beside what the program prints at the same places.

A first session stops at lines of device functions and takes what `info locals` and `info args` show. Then the program is
compiled again with calls there that print each number of these variables, for the thread that had stopped, and runs under
the same schedule."""
import os
import random
import re
import subprocess

LEAST_FLOAT = 2.0**-149  # "1e-45" is it

SHOW = r"""
#include <cstdio>
#include <type_traits>
template <class T> __device__ void shown_(int number, const T &v)
{
    if constexpr (std::is_floating_point<T>::value) printf("@%d %.17g\n", number, (double)v);
    else if constexpr (std::is_unsigned<T>::value) printf("@%d %llu\n", number, (unsigned long long)v);
    else if constexpr (std::is_integral<T>::value || std::is_enum<T>::value) printf("@%d %lld\n", number, (long long)v);
    else if constexpr (std::is_pointer<T>::value) printf("@%d %d\n", number, v != nullptr);
    else printf("@%d ?\n", number);
}
"""


def blanked(text):
    """Without comments and strings; everything else stays where it is."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(\\.|[^"\\\n])*"', lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def places(text):
    """Lines where a statement of a device function begins, by function: {its first line: [lines]}."""
    text = blanked(text)
    lines, found = text.split("\n"), {}
    for m in re.finditer(r"__(?:global|device)__[^;{}]*\)[^;{}]*\{", text):
        depth, end = 1, m.end()
        while depth and end < len(text):
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
        first = text.count("\n", 0, m.start()) + 1
        for n in range(text.count("\n", 0, m.end()) + 2, text.count("\n", 0, end) + 1):
            line, before = lines[n - 1].strip(), "".join(lines[: n - 1]).rstrip()
            so_far = "\n".join(lines[first - 1 : n - 1])
            if line and before[-1] in ";{}" and so_far.count("(") == so_far.count(")") and not re.match(r"[}{#)]|(else|case|default|__shared__|extern|static)\b", line):
                found.setdefault(first, []).append(n)
    return found


def numbers(path, text):
    """(path, text) of each number in a value: "{x = 1, f = {2, 3}}" of v has v.x, v.f[0] and v.f[1]."""
    def value(path, at):
        if text[at] != "{":
            end = re.compile(r"(\([^()]*\*\) )?[^,{}]*?('(\\.|[^'])*'|\"(\\.|[^\"])*\")?(?=[,}]|$| <repeats)", re.S).match(text, at).end()
            out.append((path, text[at:end].strip()))
            return end
        at, index = at + 1, 0
        while text[at] != "}":
            name = re.compile(r"<[^=]*> = |(\w+) = ").match(text, at)
            at = value((f"{path}.{name[1]}" if name[1] else path) if name else f"{path}[{index}]", name.end() if name else at)
            again = re.compile(r" <repeats (\d+) times>").match(text, at)
            index += int(again[1]) if again else 1
            at = re.compile(r"[,.\s]*").match(text, again.end() if again else at).end()
        return at + 1

    out = []
    value(path, 0)
    return out


class Beside:
    """A program at `n` places. `compiler`: its words; `heddle`: the command."""

    def __init__(self, heddle, compiler, source, folder, n=5):
        self.heddle, self.compiler, self.folder = heddle, [*compiler, "-I", os.path.dirname(source)], folder
        self.name = os.path.basename(source)
        with open(source) as f:
            self.text = f.read()
        self.right, self.wrong, self.left_out, self.places = 0, [], [], 0
        self.compare(self.stops(n), n)

    def build(self, text):
        path = os.path.join(self.folder, self.name)
        with open(path, "w") as f:
            f.write(text)
        done = subprocess.run([*self.compiler, path, "-o", path[:-3]], capture_output=True, text=True, timeout=300)
        return done.stderr if done.returncode else None

    def debug(self, commands):
        """Without random addresses: pointers of both runs are the same."""
        done = subprocess.run(["setarch", "-R", self.heddle, "debug", "./" + self.name[:-3]], input="\n".join(commands) + "\n", capture_output=True,
                              text=True, timeout=300, cwd=self.folder)
        return re.sub(r"^\(heddle\) .*\n?", "", done.stdout, flags=re.M)

    def stops(self, n):
        """{line: (thread, block, shown)} of the first visit of each."""
        error, rng = self.build(self.text), random.Random(1)
        assert error is None, error
        lines = {first: rng.sample(lines, len(lines)) for first, lines in places(self.text).items()}
        asked = [line for some in zip(*(lines[f] + [0] * 4 * n for f in lines)) for line in some if line][: 4 * n]  # each function has its turn
        out = self.debug([f"tbreak {self.name}:{line}" for line in asked] + ["run"] + ["p threadIdx", "p blockIdx", "info locals", "info args", "continue"] * len(asked))
        stops = {}
        for part in re.split(r"^Breakpoint \d+(?:, by .*)?\n", out, flags=re.M)[1:]:
            line = re.search(rf" at {re.escape(self.name)}:(\d+)$", part, re.M)
            at = re.findall(r"^\$\d+ = \{x = (\d+), y = (\d+), z = (\d+)\}$", part, re.M)
            if line and len(at) >= 2:
                stops.setdefault(int(line[1]), (at[0], at[1], part))
        return {line: stops[line] for line in asked if line in stops}

    def variables(self, line, shown):
        """(name, value) of those that are given a value before the line: a compiler lists all of a block's."""
        first = max(f for f, lines in places(self.text).items() if line in lines)
        before = "\n".join(blanked(self.text).split("\n")[first - 1 : line - 1])
        seen = {}
        for name, value in re.findall(r"^(\w+) = (.*)$", shown, re.M):
            is_given = re.search(rf"(?<![.\w>]){name}\s*[,)]", before.split("{")[0])
            if is_given or re.search(rf"(?<![.\w>]){name}\s*(=(?!=)|[\[({{]|:(?!:))", before):
                seen.setdefault(name, value)
        return seen.items()

    def compare(self, stops, n):
        lines, asked = self.text.split("\n"), {}
        for line, (thread, block, shown) in list(stops.items())[:n]:
            calls = []
            for name, value in self.variables(line, shown):
                for path, number in numbers(name, value):
                    if number.startswith("<"):
                        self.left_out.append((line, path, number))
                        continue
                    expression = path
                    if re.fullmatch(r"[A-Za-z_]\w*", number) and number not in ("true", "false", "inf", "nan"):  # an enumerator
                        expression = f"({path} == std::decay_t<decltype({path})>::{number})"
                    asked[len(asked)] = (line, path, number, expression != path)
                    calls.append(f"shown_({len(asked) - 1}, {expression});")
            here = " && ".join(f"{what}.{c} == {v}" for what, at in (("threadIdx", thread), ("blockIdx", block)) for c, v in zip("xyz", at))
            lines[line - 1] = f"{{ static __device__ int seen_; if ({here} && !seen_) {{ seen_ = 1; {' '.join(calls)} }} }} {lines[line - 1]}"
            self.places += 1
        error = self.build(SHOW + f'#line 1 "{self.name}"\n' + "\n".join(lines))
        assert error is None, error
        out = self.debug([f"break {self.name}:{line} if 0" for line in list(stops)[:n]] + ["run"])
        printed = {}
        for number, value in re.findall(r"@(\d+) (.*)$", out, re.M):
            printed.setdefault(int(number), value)
        for number, (line, path, shown, is_name) in asked.items():
            if self.same("true" if is_name else shown, printed.get(number)):
                self.right += 1
            else:
                self.wrong.append((line, path, shown, printed.get(number)))

    @staticmethod
    def same(shown, printed):
        pointer = re.search(r"0x[0-9a-f]+", shown)
        if printed is None or printed == "?":
            return printed == "?"
        if pointer:
            return int(printed) == (int(pointer[0], 16) != 0)
        shown = {"true": "1", "false": "0"}.get(shown, shown.split(" '")[0])
        return float(shown) == float(printed) or abs(float(shown) - float(printed)) <= max(2e-7 * abs(float(printed)), LEAST_FLOAT / 2) or shown == printed
