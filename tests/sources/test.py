"""heddle cc where names, sources, outputs and folders are odd or meant to do harm."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import heddle, main

work = tempfile.TemporaryDirectory()
os.chdir(work.name)
os.mkdir("tmp")
# Neither side includes much: what is tested here is not the compiler.
KERNEL = "__global__ void k(int *p) { *p = 1; }\nint main() { return 0; }\n"
CLANG = shutil.which("clang-19")


def cc(*args, **more):
    env = dict(os.environ, **more.pop("env", {}), TMPDIR=more.pop("tmp", os.path.join(work.name, "tmp")))
    return subprocess.run([heddle, "cc", *args], capture_output=True, text=True, errors="replace", timeout=60, env=env, **more)


def write(name, text=KERNEL):
    with open(name, "w") as f:
        f.write(text)
    return name


def refused(done, *words):
    assert done.returncode in (1, 2) and all(w in done.stderr for w in words), (done.returncode, done.stderr)
    assert not os.listdir("tmp"), os.listdir("tmp")


def names_are_no_words_of_a_shell():
    """Objects of -rdc=true, whose symbols are listed by a program."""
    for stem in "';touch pwned;'", "-dash", "@at":
        write("./" + stem + ".cu")
        done = cc("-rdc=true", "-c", "./" + stem + ".cu", "-o", "./" + stem + ".o")
        assert done.returncode == 0, done.stderr
        done = cc("-rdc=true", stem + ".o" if stem[0] != "-" else "./" + stem + ".o", "-o", "out")
        assert done.returncode == 0 and os.access("out", os.X_OK), done.stderr
        assert not os.path.exists("pwned")
        os.unlink("out")


def a_source_is_not_read_as_a_file_of_arguments():
    write("at.cu", "-fplugin=/evil.so")
    write("@at.cu")
    done = cc("-c", "@at.cu", "-o", "@out.o")
    assert done.returncode == 0 and os.path.exists("@out.o"), done.stderr


def symbols_that_are_no_identifiers_get_into_no_source():
    """An object may have any symbol; those of -rdc=true are written into C."""
    evil = "__cudaRegisterLinkedBinary_x(void){} int evil[sizeof(struct evil)]; void y"
    write("evil.s", f'.globl main\nmain: ret\n.data\n.quad "{evil}"\n')
    subprocess.run([CLANG, "-c", "evil.s", "-o", "evil.o"], check=True)
    done = cc("evil.o", "-o", "evil")
    refused(done, "undefined reference")
    assert "error: invalid application" not in done.stderr and "registry" not in done.stderr, done.stderr


def what_is_no_source_is_refused_and_not_waited_for():
    os.mkfifo("pipe.cu")
    os.mkdir("folder.cu")
    os.symlink("/dev/zero", "zero.cu")
    os.symlink("loop.cu", "loop.cu")
    for name in "pipe.cu", "folder.cu", "zero.cu":
        refused(cc(name), name, "is not a regular file")
    refused(cc("loop.cu"), "cannot read loop.cu")
    refused(cc("missing.cu"), "cannot read missing.cu")
    refused(cc("x" * 300 + ".cu"), "File name too long")
    refused(cc(write("new\nline.cu")), "a line break")


def includes_without_end_end():
    write("self.cu", '#include "self.cu"\n')
    refused(cc("-c", "self.cu"), "nested too deeply")


def an_output_does_not_take_the_place_of_its_source():
    write("mine.cu")
    os.symlink("mine.cu", "link")
    for args in ["mine.cu", "-o", "mine.cu"], ["mine.cu", "-c", "-o", "./mine.cu"], ["mine.cu", "-ptx", "-o", "link"]:
        refused(cc(*args), "would overwrite the source")
    shutil.copy("mine.cu", "mine.ptx")
    refused(cc("-x", "cu", "-ptx", "mine.ptx"), "would overwrite the source")
    assert open("mine.cu").read() == open("mine.ptx").read() == KERNEL


def outputs_that_cannot_be_written_are_errors():
    write("k.cu")
    os.mkdir("taken")
    for output in "taken", "/nowhere/out", "/proc/out":
        refused(cc("-c", "k.cu", "-o", output))
        refused(cc("-fatbin", "k.cu", "-o", output))
    done = cc("-fatbin", "k.cu", "-o", "/dev/full")
    refused(done, "No space left")


def a_limit_on_files_leaves_none_that_looks_good():
    write("k.cu")
    for args, output in (["-fatbin"], "k.fatbin"), (["-ptx"], "k.ptx"), (["-c"], "k.o"), ([], "a.out"):
        done = subprocess.run(["prlimit", "--fsize=100", heddle, "cc", *args, "k.cu"], capture_output=True, text=True,
                              timeout=60, env=dict(os.environ, TMPDIR=os.path.join(work.name, "tmp")))
        assert done.returncode in (1, 2) and done.stderr, (args, done)
        assert not os.path.exists(output), output
    assert not os.listdir("tmp")


def folders_for_what_is_made_on_the_way():
    write("k.cu")
    for name in "tmp with spaces", "@tmp", "-tmp", "tmp'quote":
        os.mkdir(name)
        done = cc("k.cu", "-o", "out", tmp=name)
        assert done.returncode == 0 and not os.listdir(name), (name, done.stderr)
    refused(cc("k.cu", tmp="/nowhere"), "cannot make a folder in /nowhere")


def a_signal_leaves_nothing_behind():
    """While the compiler runs; the signal goes to heddle alone. Its status is the signal's."""
    write("clang-slow", "#!/bin/sh\necho $$ >>pids\nexec sleep 60\n")
    os.chmod("clang-slow", 0o755)
    write("k.cu")
    # with headers to be kept, the second compilation makes one of them first, by one process
    cases = [(signal.SIGTERM, "off", 2), (signal.SIGINT, "off", 2), (signal.SIGHUP, "off", 2), (signal.SIGTERM, "kept", 2), (signal.SIGTERM, "kept", 1)]
    for number, headers, n in cases:
        write("pids", "")
        child = subprocess.Popen([heddle, "cc", "-ccbin", os.path.abspath("clang-slow"), "k.cu", "-o", "out"],
                                 preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # a shell's background ignores SIGINT
                                 stderr=subprocess.DEVNULL,
                                 env=dict(os.environ, TMPDIR=os.path.join(work.name, "tmp"), HEDDLE_HEADERS=os.path.join(work.name, headers) if headers != "off" else "off"))
        end = time.monotonic() + 20
        while len(open("pids").read().split()) < n and time.monotonic() < end:
            time.sleep(0.01)
        pids = [int(p) for p in open("pids").read().split()]
        assert len(pids) == n and os.listdir("tmp"), pids
        child.send_signal(number)
        assert child.wait(timeout=20) == -number
        assert not os.listdir("tmp")
        assert not any(os.path.exists(f"/proc/{p}") for p in pids)
    assert all(name.endswith(".seen") for name in os.listdir("kept")), os.listdir("kept")


def a_compiler_that_fails_gets_a_line_and_leaves_nothing_behind():
    """As LLVM's code generation does on a variable that points to itself; and any failure of clang's own."""
    write("circle.cu", "struct N { N *next; };\n__device__ N self = {&self};\n__global__ void k(N **p) { *p = self.next; }\nint main() {}\n")
    for flags in ([], ["-ptx"], ["-c", "-G"]):
        done = cc("circle.cu", *flags)
        refused(done, "circle.cu: error: clang has failed at `_Z1kPP1N`: Circular dependency", "set the pointer in a kernel")
        assert done.stderr.count("\n") == 1, done.stderr
    for side in "", "#ifdef __CUDA_ARCH__\n", "#ifndef __CUDA_ARCH__\n":
        write("crash.cu", KERNEL + side + "#pragma clang __debug crash\n" + ("#endif\n" if side else ""))
        done = cc("crash.cu")
        refused(done, "crash.cu:", "error: clang has failed; ")
        assert done.stderr.count("\n") == 1, done.stderr
    os.mkdir("killed")
    with open("killed/clang-19", "w") as f:
        f.write("#!/bin/sh\nkill -9 $$\n")
    os.chmod("killed/clang-19", 0o700)
    refused(cc("circle.cu", "-ccbin", os.path.abspath("killed/clang-19")), "ended by signal 9: is memory exhausted?")


def values_of_options_are_values():
    write("k.cu", KERNEL.replace("= 1", "= sizeof(S)"))
    done = cc("-c", "k.cu", "-DS=\"$(touch pwned);'`touch pwned`\"", "-I-", "-I@at", "-I", "no such folder")
    assert done.returncode == 0 and not os.path.exists("pwned"), done.stderr
    for arch in "sm_99999999999", "sm_", "sm_80;rm", "-1", "compute_80,code=x\ny":
        refused(cc("-c", "k.cu", "-arch", arch))


if not CLANG:
    print("1..1\nok 1 - sources # SKIP there is no clang-19")
    sys.exit()
main(globals())
