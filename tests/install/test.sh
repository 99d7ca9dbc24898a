#!/bin/sh
# What `make install` leaves: the program of docs/LIBHEDDLE.md against the installed header and library, found by pkg-config.
# alone: it makes the build, and its links, anew
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0 failed=0
result() { # STATUS NAME
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        failed=1
        sed 's/^/    /' "$dir/log"
        echo "not ok $n - $2"
    fi
}

DESTDIR="$dir/root" make -C "$HEDDLE_SOURCE" BUILD="$HEDDLE_BUILD" install >"$dir/log" 2>&1
result $? "make install"
make -n -C "$HEDDLE_SOURCE" BUILD="$HEDDLE_BUILD" PREFIX="$dir/prefix" install >"$dir/log" 2>&1 &&
    grep -q "meson configure .*--prefix='$dir/prefix'" "$dir/log"
result $? "make install PREFIX=FOLDER installs there"

pc=$(find "$dir/root" -name heddle.pc)
export PKG_CONFIG_PATH="${pc%/heddle.pc}" PKG_CONFIG_SYSROOT_DIR="$dir/root"
lib=$(dirname "${pc%/pkgconfig/heddle.pc}/x")
LD_LIBRARY_PATH=$lib
export LD_LIBRARY_PATH

# The program is of docs/LIBHEDDLE.md.
sed -n '/^```c$/,/^```$/{ /^```/d; p; }' "$HEDDLE_SOURCE/docs/LIBHEDDLE.md" >"$dir/count.c"

if nm -D "$lib/libheddle.so" | grep -q __asan_init; then
    echo "ok $((n += 1)) - a program finds the library # SKIP it is built with sanitizers"
else
    cc -std=c99 -Wall -Wextra -pedantic -Werror "$dir/count.c" -o "$dir/count" $(pkg-config --cflags --libs heddle) \
        >"$dir/log" 2>&1
    result $? "a program compiles as C99 with pkg-config's flags"
    "$dir/count" >"$dir/log" 2>&1 && grep -qx "HD_SUCCESS: 192" "$dir/log"
    result $? "it runs with the installed library"
fi

if command -v bindgen >/dev/null && command -v rustc >/dev/null && ! nm -D "$lib/libheddle.so" | grep -q __asan_init; then
    sed -n '/^```rust$/,/^```$/{ /^```/d; p; }' "$HEDDLE_SOURCE/docs/LIBHEDDLE.md" >"$dir/saxpy.rs"
    (cd "$dir" && bindgen --size_t-is-usize "$(find root -name heddle.h)" -o heddle.rs &&
        rustc -C debuginfo=0 saxpy.rs -L "$lib" -l heddle && ./saxpy "$HEDDLE_SOURCE/examples/saxpy/saxpy.ptx" &&
        ! ./saxpy "$HEDDLE_SOURCE/tests/errors/wrong_modifier.ptx") >"$dir/log" 2>&1
    grep -qx "HD_SUCCESS: 7" "$dir/log" && grep -q "^saxpy.ptx:.*: error: " "$dir/log"
    result $? "Rust takes the header by bindgen, launches, and gets a report"
else
    echo "ok $((n += 1)) - Rust takes the header by bindgen, launches, and gets a report # SKIP bindgen, rustc or a build without sanitizers is missing"
fi

"$(find "$dir/root" -path '*/bin/heddle')" launch "$HEDDLE_SOURCE/examples/saxpy/saxpy.ptx" --grid 1 --block 4 4 2.0 \
    'f32[4]=range' 'f32[4]=ones' >"$dir/log" 2>&1 && grep -q '1 3 5 7' "$dir/log"
result $? "the installed command runs"

printf '__global__ void k(int *p) { *p = 7; }\nint main() { int *p, v = 0; cudaMalloc(&p, 4); k<<<1, 1>>>(p);
cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost); return v != 7; }\n' >"$dir/seven.cu"
if nm -D "$lib/libheddle.so" | grep -q __asan_init; then
    echo "ok $((n += 1)) - the installed command compiles CUDA C++ # SKIP it is built with sanitizers"
else
    (unset LD_LIBRARY_PATH && "$(find "$dir/root" -path '*/bin/heddle')" cc "$dir/seven.cu" -o "$dir/seven" && "$dir/seven") \
        >"$dir/log" 2>&1
    result $? "the installed command compiles CUDA C++, and the program runs"
fi

[ "heddle $(pkg-config --modversion heddle)" = "$(LD_LIBRARY_PATH= "$(find "$dir/root" -path '*/bin/heddle')" --version)" ]
result $? "the versions agree"

nm -D --defined-only "$lib/libheddle.so" | awk '$2 != "A" && $3 !~ /^hd_/ { print $3; bad = 1 } END { exit bad }' >"$dir/log" 2>&1
result $? "the library exports the names of heddle.h alone"

echo "1..$n"
exit $failed
