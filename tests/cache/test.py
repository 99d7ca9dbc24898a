"""Compiled code on disk: what is not the user's own, or not what it says that it is, is not run."""
import contextlib
import json
import os
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import environment, need_compiler, written
from tap import Skip, heddle, main, run

ADD = """.visible .entry k(.param .u64 out)
{
    .reg .u64 %rd1; .reg .u32 %r<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    add.u32 %r2, %r1, NUMBER;
    mad.wide.u32 %rd1, %r1, 4, %rd1;
    st.global.u32 [%rd1], %r2;
    ret;
}
"""


def go(folder, number=7, **more):
    """The kernel's result has to be right whatever is in the cache; what is said of the cache."""
    with written(ADD.replace("NUMBER", str(number))) as path:
        done = subprocess.run([heddle, "launch", path, "--grid", "1", "--block", "4", "--engine", "jit", "--json", "u32[4]+print"],
                              capture_output=True, text=True, timeout=60, env=environment(HEDDLE_CACHE=folder, HEDDLE_LOG="engine"), **more)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["buffers"][0]["values"] == [number + i for i in range(4)], done.stdout
    return done.stderr


def only(folder):
    (name,) = os.listdir(folder)
    return os.path.join(folder, name)


def is_taken(path, folder):
    """Does a launch use the entry, without a word?"""
    os.utime(path, (1, 1))
    with open(path, "rb") as held: # so that no other file gets its number
        err = go(folder)
        return not err and os.path.samestat(os.stat(path), os.fstat(held.fileno())) and os.stat(path).st_mtime > 1


@contextlib.contextmanager
def filled(mode=0o700):
    """A folder with the kernel's entry."""
    need_compiler()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, mode)
        assert go(folder) == ""
        assert is_taken(only(folder), folder)
        yield folder, only(folder)


def refused(folder, path, says):
    """The entry is not used, which is said; it is removed, compiled anew, and good then."""
    err = go(folder)
    assert "the cache is not used" in err and says in err, err
    found = os.lstat(path)
    assert stat.S_ISREG(found.st_mode) and found.st_mode & 0o777 == 0o600 and found.st_uid == os.geteuid()
    assert is_taken(path, folder)


def entries_are_written_for_the_user_alone():
    with filled() as (folder, path):
        assert os.stat(path).st_mode & 0o777 == 0o600
    with tempfile.TemporaryDirectory() as above:
        folder = os.path.join(above, "a", "b")
        assert go(folder) == "" and os.stat(folder).st_mode & 0o777 == 0o700


def an_entry_that_others_can_write_to_is_refused():
    for mode in 0o620, 0o602, 0o666:
        with filled() as (folder, path):
            os.chmod(path, mode)
            refused(folder, path, "can be written by others")


def an_entry_of_another_user_is_refused():
    if os.geteuid() != 0:
        raise Skip("needs root")
    with filled() as (folder, path):
        os.chown(path, 1234, -1)
        refused(folder, path, "belongs to user 1234")


def a_folder_that_others_can_write_to_is_not_used():
    for mode in 0o770, 0o777, 0o1777, 0o707:
        with filled() as (folder, path):
            os.chmod(folder, mode)
            os.utime(path, (1, 1))
            err = go(folder)
            assert f"{folder} can be written by others (mode {mode:04o}): chmod go-w" in err, err
            assert go(folder, 8) and os.listdir(folder) == [os.path.basename(path)] and os.stat(path).st_mtime == 1
            for args in (), ("--clear",):
                status, out, err = run("cache", *args, env=environment(HEDDLE_CACHE=folder))
                assert status == 1 and "neither kept nor used" in err and "chmod go-w" in err, (out, err)
            assert os.path.exists(path)
            os.chmod(folder, 0o755) # others may read
            assert is_taken(path, folder)


def a_folder_of_another_user_is_not_used():
    """As where sudo keeps HOME."""
    if os.geteuid() != 0:
        raise Skip("needs root")
    with filled() as (folder, path):
        os.chown(folder, 1234, -1)
        err = go(folder)
        assert "belongs to user 1234, and this process is user 0's" in err, err
        assert go(folder, 8) and len(os.listdir(folder)) == 1


def what_is_no_file_is_neither_waited_for_nor_followed():
    def pipe(path, copy):
        os.mkfifo(path, 0o600)

    def link(path, copy):
        os.symlink(copy, path)

    for make, says in (pipe, "is no file"), (link, "it is a link"):
        with filled() as (folder, path), tempfile.TemporaryDirectory() as other:
            copy = os.path.join(other, "copy")
            os.rename(path, copy)
            make(path, copy)
            refused(folder, path, says)
    with filled() as (folder, path):
        os.unlink(path)
        os.mkdir(path)
        assert "is no file" in go(folder) and os.path.isdir(path)


def the_folder_may_be_a_link():
    with filled() as (folder, path), tempfile.TemporaryDirectory() as other:
        link = os.path.join(other, "link")
        os.symlink(folder, link)
        assert go(link) == "" and is_taken(path, link)


def damage_is_found_wherever_it_is():
    with filled() as (folder, path):
        with open(path, "rb") as f:
            whole = f.read()
        places = [0, 8, 16, 24, 55, 56, 87, 88, len(whole) // 2, len(whole) - 1]
        for damaged in [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:] for at in places] + [whole[:-1], whole + b"x", whole[:60], b""]:
            with open(path, "wb") as f:
                f.write(damaged)
            refused(folder, path, "is damaged, or belongs to another kernel")


def an_entry_of_another_kernel_is_not_run():
    with filled() as (folder, path):
        go(folder, 8)
        (other,) = [os.path.join(folder, n) for n in os.listdir(folder) if n != os.path.basename(path)]
        with open(other, "rb") as f:
            foreign = f.read()
        with open(path, "rb") as f:
            whole = f.read()
        key = foreign.index(bytes.fromhex(os.path.basename(other)[:64]))
        for text in foreign, foreign[:key] + whole[key:key + 32] + foreign[key + 32:]: # the second says that it is the first's
            with open(path, "wb") as f:
                f.write(text)
            refused(folder, path, "is damaged, or belongs to another kernel")


def what_writers_that_died_have_left_is_removed():
    with filled() as (folder, path):
        old, young, foreign = path + ".123.0x55", path + ".124.0x55", os.path.join(folder, "notes.code")
        for name in old, young, foreign, os.path.join(folder, "0" * 32 + ".code"): # the last is an older Heddle's
            with open(name, "wb") as f:
                f.write(b"x" * 1000)
            if name != young:
                os.utime(name, (1, 1))
        go(folder, 8)
        left = os.listdir(folder)
        assert sorted(n for n in left if len(n) != 69) == sorted(map(os.path.basename, (young, foreign))) and len(left) == 4, left
        status, out, _ = run("cache", env=environment(HEDDLE_CACHE=folder))
        assert status == 0 and " 2 compiled kernels," in out, out
        status, out, _ = run("cache", "--clear", env=environment(HEDDLE_CACHE=folder))
        assert status == 0 and os.listdir(folder) == ["notes.code"], out


main(globals())
