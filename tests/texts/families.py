"""PTX texts of n parts, one family a function. Each may take time in proportion to n."""
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def kernel(body, before=""):
    return f"{HEAD}{before}.visible .entry k(.param .u64 p)\n{{\n{body}ret;\n}}\n"


def lines(n, line):
    return "".join(line(i) for i in range(n))


def instructions(n):
    return kernel(".reg .u32 %r<60>;\n" + lines(n, lambda i: f"mad.lo.u32 %r{i % 60}, %r{i * 7 % 60}, %r{i * 13 % 60}, {i};\n"))


def registers(n):
    return kernel(f".reg .u32 %r<{n}>;\n" + lines(n, lambda i: f"mov.u32 %r{i}, {i};\n")
                  + lines(n, lambda i: f"add.u32 %r0, %r0, %r{i};\n"))


def products(n):
    """Which of them are contracted is found out over the whole function."""
    return kernel(f".reg .f32 %f<{n + 3}>; .reg .pred %p; setp.eq.u32 %p, 0, 1;\n" +
                  lines(n, lambda i: f"mul.f32 %f{i}, %f{n}, %f{n + 1};\nadd.f32 %f{n + 2}, %f{n + 2}, %f{i};\nL{i}: @%p bra L{i};\n"))


def functions(n):
    return kernel(f"call f{n - 1};\n", lines(n, lambda i: f".func f{i}() {{ ret; }}\n"))


def kernels(n):
    return kernel("", lines(n, lambda i: f".visible .entry k{i}() {{ ret; }}\n"))


def functions_in_one_line(n):
    return functions(n).replace("\n", " ")


def calls_of_the_one_before(n):
    return kernel(f"call f{n - 1};\n", ".func f0() { ret; }\n" + lines(n - 1, lambda i: f".func f{i + 1}() {{ call f{i}; ret; }}\n"))


def calls_of_the_one_behind(n):
    return kernel("call f0;\n", lines(n, lambda i: f".func f{i}();\n") +
                  lines(n - 1, lambda i: f".func f{i}() {{ call f{i + 1}; ret; }}\n") + f".func f{n - 1}() {{ ret; }}\n")


def calls(n):
    return kernel("call f;\n" * n, ".func f() { ret; }\n")


def labels(n):
    return kernel(lines(n, lambda i: f"L{i}: bra L{i + 1};\n") + f"L{n}: ")


def branches_forward(n):
    return kernel(".reg .pred %p; setp.eq.u32 %p, 0, 1;\n" + lines(n, lambda i: f"@%p bra L{n + (n - i) // 2};\nL{i}:\n") +
                  lines(n // 2 + 1, lambda i: f"L{i + n}:\n"))


def loops(n):
    return kernel(".reg .pred %p; setp.eq.u32 %p, 0, 1;\n" + lines(n, lambda i: f"L{i}: @%p bra L{i};\n"))


def targets(n):
    return kernel(".reg .u32 %r; mov.u32 %r, 0;\nT: .branchtargets " + ", ".join(f"L{i}" for i in range(n)) +
                  ";\nbrx.idx %r, T;\n" + lines(n, lambda i: f"L{i}: ret;\n"))


def the_same_target(n):
    return kernel(".reg .u32 %r; mov.u32 %r, 0;\nT: .branchtargets " + ", ".join(["L"] * n) + ";\nbrx.idx %r, T;\nL: ")


def variables(n):
    return kernel(".reg .u64 %r;\n" + lines(n, lambda i: f"mov.u64 %r, v{i};\n"),
                  lines(n, lambda i: f".global .u32 v{i};\n") + f".global .u64 t[{n}] = {{{', '.join(f'v{i}' for i in range(n))}}};\n")


def local_variables(n):
    return kernel(".reg .u32 %r;\n" + lines(n, lambda i: f".local .u32 v{i};\nst.local.u32 [v{i}], %r;\n"))


def parameters(n):
    return kernel("", f".func f({', '.join(f'.param .u32 p{i}' for i in range(n))}) {{\n.reg .u32 %r;\n" +
                  lines(n, lambda i: f"ld.param.u32 %r, [p{i}];\n") + "ret; }\n")


def parameters_in_registers(n):
    return kernel(".reg .u32 %r;\ncall f, (" + ", ".join(["%r"] * n) + ");\n",
                  f".func f({', '.join(f'.reg .u32 p{i}' for i in range(n))}) {{ ret; }}\n")


def places(n):
    return kernel(".reg .u32 %r;\n" + lines(n, lambda i: f".loc {i + 1} {i + 1} 1\nadd.u32 %r, %r, 1;\n"),
                  lines(n, lambda i: f'.file {i + 1} "f{i}.cu"\n'))


def scopes(n):
    return kernel(lines(n, lambda i: "{ .reg .u32 %r; mov.u32 %r, 1; }\n"))


def one_expression(n):
    return kernel("", f".global .u8 v[{'+'.join(['1'] * n)}];\n")


def one_initialiser(n):
    return kernel("", f".global .u32 v[{n}] = {{{', '.join(map(str, range(n)))}}};\n")


def errors(n):
    return kernel("foo;\n" * n)


def names_not_declared(n):
    return kernel(lines(n, lambda i: f".reg .u32 r{i};\n") + lines(n, lambda i: f"add.u32 x{i}, y{i}, 1;\n"))


def names_declared_twice(n):
    return kernel("", ".global .u32 v;\n" * n)


ALL = [f for name, f in globals().items() if callable(f) and name not in ("kernel", "lines")]
