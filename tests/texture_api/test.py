"""Arrays, textures and surfaces of both APIs: programs that write down what they see, beside what they wrote on an H200 (nvcc 13.0, driver
580.159). Prints TAP."""
import lzma
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402

HERE = os.path.join(tap.source, "tests", "texture_api")
folder = tap.Folder()


def build(name, *more, source=None):
    tap.need_clang()
    program = folder.path(name)
    if not os.path.exists(program):
        done = subprocess.run([tap.heddle, "cc", "-std=c++17", "-o", program, source or os.path.join(HERE, name + ".cu"), *more], capture_output=True,
                              text=True, timeout=200)
        assert done.returncode == 0, done.stderr
    return program


def lines(text):
    return dict(line.split(":", 1) for line in text.splitlines())


def by_heddle(program, *arguments):
    done = subprocess.run([tap.heddle, "run", program, *arguments], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


# Where Heddle differs: the line, the call, its answer, and why.
DIFFERS = {("view_extents", 32): ("1", "a part of a cube")}


def is_refused(line):
    """Formats of video and of compressed blocks, flags of sparse and deferred arrays, views as compressed blocks."""
    return line.startswith("format_kind_") or line in ("extents_other_flags", "view_formats")


def statuses_of(*subjects):
    """What Heddle refuses by name, 801, an H200 may take."""
    with open(os.path.join(HERE, "statuses.txt"), encoding="utf-8") as f:
        wants = lines(f.read())
    seen = 0
    for line, got in lines(by_heddle(build("statuses", "-lcuda"), *subjects)).items():
        want, got = wants[line].split(), got.split()
        wrong = [f"call {i}: {g}, not {w}" for i, (w, g) in enumerate(zip(want, got))
                 if g != DIFFERS.get((line, i), (w,))[0] and not (g.split("/")[-1] == "801" and is_refused(line))]
        assert len(want) == len(got) and not wrong, f"{line}: {len(got)} answers, not {len(want)}; {wrong}"
        seen += 1
    assert seen > len(subjects), seen


def arrays_are_made_and_refused_as_by_an_h200():
    statuses_of("formats", "extents", "mipmaps", "info")


def copies_of_arrays_move_and_refuse_as_an_h200s():
    statuses_of("copies_2d", "copies_3d")


def recorded(name):
    with lzma.open(os.path.join(HERE, name + ".txt.xz"), "rt") as f:
        return f.read().splitlines()


def boxes_are_copied_and_refused_as_by_an_h200():
    """Statuses and bytes of 3,245 copies with wrong extents, pitches, kinds, positions and pointers, by both APIs and as nodes."""
    step = 1 if tap.FULL else 37
    for first in range(0, step, 8):
        got, wants = by_heddle(build("copies_3d", "-w", "-lcuda"), str(step), str(first)).splitlines(), recorded("copies_3d")[first::step]
        assert got == wants, "\n".join(f"{g}\n  an H200: {w}" for g, w in zip(got, wants) if g != w)


def views_of_all_formats_are_filtered_as_on_an_h200():
    """Each view of 18 formats, read as it is, as fractions and in sRGB, by points and linearly: integers are filtered, too."""
    got, wants = by_heddle(build("views", "-w", "-lcuda")).splitlines(), recorded("views")
    assert got == wants, "\n".join(f"{g}\n  an H200: {w}" for g, w in zip(got, wants) if g != w)


def objects_are_made_and_refused_as_by_an_h200():
    statuses_of("textures", "views", "driver_objects")


def references_of_the_driver_are_bound_and_changed():
    """A module's PTX with .texref and .surfref, beside an H200's sums."""
    with open(os.path.join(HERE, "references.txt"), encoding="utf-8") as f:
        wants = f.read()
    got = by_heddle(build("references", "-w", "-lcuda"))
    assert got == wants, f"{got}\nan H200:\n{wants}"


def references_of_cuda_11s_runtime_are_registered_and_bound():
    tap.need_clang()
    with open(os.path.join(HERE, "references.cu"), encoding="utf-8") as f:
        text = f.read()
    ptx = folder.write("references.ptx", text[text.index('R"(') + 3:text.index(')";')].lstrip())
    image, program = folder.path("references.fatbin"), folder.path("runtime_references")
    library = os.path.join(os.environ["HEDDLE_BUILD"], "libcudart.so.11.0")
    subprocess.run([tap.heddle, "cc", "-fatbin", "-o", image, ptx], check=True)
    subprocess.run(["cc", "-Wall", "-I", os.path.join(tap.source, "include", "cuda"), f'-DIMAGE="{image}"', "-o", program,
                    os.path.join(HERE, "runtime_references.c"), library], check=True)
    assert by_heddle(program) == "all as it should be\n"


def references_of_cpp_read_what_objects_read():
    """`texture<>` and `surface<>` of CUDA 11 in heddle cc: linear memory, arrays of all kinds, levels, gathers, fractions, namespaces."""
    assert by_heddle(build("cpp_references")) == "all as objects\n"


def references_of_cpp_are_compiled_for_debuggers_and_linked_with_others():
    """-G passes handles through functions; -rdc=true names references for other objects."""
    assert by_heddle(build("cpp_references_g", "-G", "-rdc=true", source=os.path.join(HERE, "cpp_references.cu"))) == "all as objects\n"


def a_program_for_cuda_13_has_texture_for_itself():
    source = folder.write("own.cu", "struct surface { int v; };\ncudaTextureObject_t texture;\nint main() { return surface{3}.v - 3 + (int)texture; }\n")
    by_heddle(build("own", source=source))


def errors_beside_references_are_told_once_and_by_their_lines():
    source = folder.write("wrong.cu", "texture<float, 2> tex;\n__global__ void k(float *p) { *p = tex2D(tex, 1.f, x); }\n"
                                      "texture<double> doubles;\n__global__ void l(double *p) { *p = tex1Dfetch(doubles, 1); }\n")
    done = subprocess.run([tap.heddle, "cc", "-ptx", "-o", folder.path("wrong.ptx"), source], capture_output=True, text=True, timeout=100)
    assert done.returncode == 1 and done.stderr.count("error:") == 2, done.stderr
    assert "wrong.cu:2:" in done.stderr and "'x'" in done.stderr and "wrong.cu:4:" in done.stderr and "no template named" not in done.stderr, done.stderr


# ---- what kernels read and write ----


def filters_of_infinities_nans_and_subnormals_give_an_h200s_bits():
    """Sums of 29,792 reads each of f32 and f16, alone and among others with a weight of 0."""
    assert by_heddle(build("specials")).split() == ["9e17d0d52ba53d3e", "0d8602836b6c4ab0", "f72296380c968edd", "2b18dda1ababe787"]


# Where no rule of the hardware's is known yet (docs/TEXTURES.md): fields by their places in the line.
OPEN = {("gradients_other", 1), ("cube_specials", 3)}


# What is refused by name: gradients with anisotropy.
REFUSED = {"gradients", "anisotropic"}


def unpacked(name):
    tap.unpack(os.path.join(HERE, "cases.tar.xz"), folder.name)
    with open(folder.path(name), encoding="utf-8") as f:
        return f.read()


def cases_of(name):
    """Each case's line of hashes, beside the H200's."""
    wants = lines(unpacked(name + ".expected"))
    program = build(name, "-w", "-lcuda", source=folder.path(name + ".cu"))
    for case in REFUSED & set(wants):
        done = subprocess.run([tap.heddle, "run", program, case], capture_output=True, text=True, timeout=200)
        assert done.returncode and "cudaErrorNotSupported" in done.stdout, (case, done)
        del wants[case]
    got = lines(by_heddle(program, *wants))
    wrong = []
    for case, want in wants.items():
        fields, has = want.split(), got.get(case, "").split()
        differ = [w.split("=")[0] for i, (w, g) in enumerate(zip(fields, has)) if w != g and (case, i) not in OPEN]
        if differ or len(has) != len(fields):
            wrong.append(f"{case}: {len(has)} fields of {len(fields)}, {' '.join(differ)} differ")
    assert not wrong and wants, wrong


def pictures_are_read_as_by_an_h200():
    cases_of("tex")


def kernels_read_and_write_as_on_an_h200():
    """Formats, strange coordinates, layers, volumes, cubes, mipmaps, gradients, gathers, surfaces, views, objects by the hundred."""
    cases_of("more")


def kinds_of_textures_are_read_and_copied_as_by_an_h200():
    """Normalised formats, halves, directions of cubes with infinities and NaNs, sRGB, linear memory, surfaces of all shapes, whole programs."""
    cases_of("kinds")


def random_textures_are_read_as_by_an_h200():
    """409,600 reads of 1,600 textures, in both engines; of case 576, one read of a cube's edge is a step off."""
    tap.unpack(os.path.join(HERE, "random.tar.xz"), folder.name)
    with open(folder.path("random.expected"), encoding="utf-8") as f:
        wants = f.read().splitlines()
    program = build("random", "-w", source=folder.path("random.cu"))
    for command, last in ("run", 1600), ("check", 200):  # which interprets
        done = subprocess.run([tap.heddle, command, program, "0", str(last)], capture_output=True, text=True, timeout=200)
        got = done.stdout.splitlines()
        wrong = [f"{g}\nan H200: {w}" for n, (g, w) in enumerate(zip(got, wants)) if g != w and n != 576]
        assert len(got) >= last and not wrong, (command, len(got), wrong[:5], done.stderr)


def borders_of_fractions_are_steps_of_the_format():
    want = unpacked("border.expected")
    got = by_heddle(build("border", "-w", source=folder.path("border.cu")), "x")
    assert got.replace("x:\n", "") == want, f"{got}\nan H200:\n{want}"


WRONG = {
    "forged": "cudaErrorIllegalAddress wrong.cu:9: uses 0x123456789abc, which is not a valid texture [no-texture]",
    "other kind": "cudaErrorIllegalAddress wrong.cu:14: which is not a valid surface [no-texture]",
    "destroyed": "cudaErrorIllegalAddress wrong.cu:9: which is not a valid texture [no-texture]",
    "freed": "cudaErrorIllegalAddress wrong.cu:9: uses a texture whose memory is not allocated or has been freed, wholly or in part [texture-freed]",
    "beyond": "cudaErrorIllegalAddress wrong.cu:9: uses a texture whose memory is not allocated or has been freed, wholly or in part [texture-freed]",
    "another texture": "cudaErrorIllegalAddress wrong.cu:9: uses a texture object of another context, or one that was made after the launch [no-texture]",
    "another surface": "cudaErrorIllegalAddress wrong.cu:14: uses a surface object of another context, or one that was made after the launch [no-texture]",
    "misaligned": "cudaErrorMisalignedAddress wrong.cu:14: at byte 2 of a row, which is not a multiple of the access size [surface-misaligned]",
    "outside": "cudaErrorIllegalAddress wrong.cu:14: accesses a surface out of bounds (x is -4) [surface-bounds]",
    "shared": "cudaErrorInvalidAddressSpace wrong.cu:19: writes shared memory by an instruction for global memory (address 0x0) [address-space]",
    "none": "cudaSuccess",
}


def wrong_uses_fail_with_their_place_and_reason():
    program = build("wrong", "-lineinfo", "-rdc=true", "-lcudadevrt", "-lcuda")
    for case, words in WRONG.items():
        done = subprocess.run([tap.heddle, "run", program, case], capture_output=True, text=True, timeout=60)
        error, _, words = words.partition(" ")
        place, _, reason = words.partition(": ")
        assert done.stdout == error + "\n" and place in done.stderr and reason in done.stderr, (case, done)


tap.main(globals())
