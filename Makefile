# Everything is built by Meson; this file is for typing less. `make` leaves programs in build/bin, libraries in
# build/lib. Variables: BUILD (folder), SETUP (arguments for meson setup); PREFIX of `make install`.
BUILD ?= build
SETUP ?=
PREFIX ?=

all: $(BUILD)/build.ninja
	ninja -C $(BUILD)
	@scripts/link-outputs $(BUILD)

$(BUILD)/build.ninja:
	meson setup $(BUILD) $(SETUP)

# For about five minutes on two cores; then all that this leaves out, too: tests/README.md.
test: all
	tests/run $(BUILD)

check-all: all
	tests/run --all --limit 3600 $(BUILD)

# All suites, or SUITES, at each CPU level that this computer has, one after the other: results do not depend on it. It fails where there is
# none.
LEVELS ?= x86-64-v2 x86-64-v3 x86-64-v4
check-levels: all
	@checked=0; \
	for level in $(LEVELS); do \
	    if $(BUILD)/heddle info --cpu $$level >/dev/null 2>&1; then \
	        echo "check-levels: $$level" && HEDDLE_CPU=$$level tests/run --limit 3600 $(BUILD) $(SUITES) || exit 1; \
	        checked=$$((checked + 1)); \
	    else \
	        echo "check-levels: $$level: SKIP this computer does not have it"; \
	    fi; \
	done; \
	[ $$checked -gt 0 ] || { echo "check-levels: this computer has none of $(LEVELS), or $(BUILD)/heddle does not run" >&2; exit 1; }

# Python clients of CUDA from PyPI, installed, run and counted (gigabytes, an hour): docs/CLIENTS.md. CLIENTS names some of them.
clients: all
	BUILD=$(abspath $(BUILD)) scripts/clients $(CLIENTS)

# Programs of others, cloned into FOLDER, by nvcc and by heddle cc (a day): docs/PROGRAMS.md. SUITES names some of them.
FOLDER ?= $(BUILD)/programs
programs: all
	HEDDLE=$(abspath $(BUILD))/heddle scripts/programs $(FOLDER) $(SUITES)

install: $(BUILD)/build.ninja
	$(if $(PREFIX),meson configure $(BUILD) --prefix='$(abspath $(PREFIX))')
	ninja -C $(BUILD)
	@scripts/link-outputs $(BUILD)
	meson install -C $(BUILD)

# A wheel for pip and a package for Debian 12, in $(BUILD)/packages.
wheel deb libraries-wheel libraries-deb: all
	scripts/package $@ $(BUILD) $(BUILD)/packages

# The extension for VS Code: `code --install-extension build/heddle.vsix`.
vsix:
	mkdir -p $(BUILD)
	scripts/vsix $(BUILD)/heddle.vsix

# Address and undefined-behaviour sanitizers, in a folder of their own.
sanitize:
	$(MAKE) BUILD=build-sanitize SETUP="-Db_sanitize=address,undefined -Db_lundef=false"
	UBSAN_OPTIONS=halt_on_error=1 tests/run --limit 3600 build-sanitize

# ThreadSanitizer: threads that share machines, devices, streams, in build-thread/. What is not reported: tests/tsan.supp.
# (Without address randomisation, which some versions of it cannot bear.)
THREAD_PROGRAMS = machines cuda-threads cuda-streams cuda-graphs test-shadow test-stream check contention
sanitize-thread:
	[ -e build-thread/build.ninja ] || meson setup build-thread -Db_sanitize=thread -Db_lundef=false
	ninja -C build-thread heddle-jit libcuda.so.1 libcudart.so.13 $(THREAD_PROGRAMS:%=tests/%) tests/joined
	for program in $(THREAD_PROGRAMS); do \
	    HEDDLE_CACHE=off LD_LIBRARY_PATH=build-thread CMOCKA_MESSAGE_OUTPUT=tap \
	    TSAN_OPTIONS="suppressions=$(CURDIR)/tests/tsan.supp history_size=7" \
	    setarch -R build-thread/tests/$$program || exit 1; \
	done
	HEDDLE_CACHE=off LD_LIBRARY_PATH=build-thread TSAN_OPTIONS="suppressions=$(CURDIR)/tests/tsan.supp history_size=7" \
	    setarch -R build-thread/tests/joined threads
	HEDDLE_CACHE=off HEDDLE_BUILD=build-thread TSAN_OPTIONS="suppressions=$(CURDIR)/tests/tsan.supp history_size=7" \
	    setarch -R env LD_PRELOAD=$$(cc -print-file-name=libtsan.so) $$(python3 -c 'import sys; print(sys.executable)') \
	    tests/campaigns/soak.py --launches 40000 --growth 200

# libFuzzer on whatever reads images, packs, files of events (20 seconds each) and PTX, and on what that accepts: scripts/fuzz. SECONDS says for how long.
SECONDS ?= 60
fuzz:
	[ -e build-fuzz/build.ninja ] || CC=clang-19 meson setup build-fuzz -Db_sanitize=address,undefined -Db_lundef=false \
		-Dc_args='-fsanitize=fuzzer-no-link -O1' -Dbuildtype=debugoptimized
	ninja -C build-fuzz heddle tests/fuzz-ptx tests/fuzz-image tests/fuzz-pack tests/fuzz-events
	mkdir -p build-fuzz/images
	printf '\120\355\125\272\1\0\20\0\120\0\0\0\0\0\0\0\1\0\1\1\100\0\0\0\20\0\0\0\0\0\0\0' >build-fuzz/images/seed
	build-fuzz/tests/fuzz-image -max_total_time=20 -rss_limit_mb=4096 -artifact_prefix=build-fuzz/ build-fuzz/images
	mkdir -p build-fuzz/packs
	build-fuzz/heddle pack -o build-fuzz/packs/seed --library a --version 1 --object build-fuzz/heddle examples/saxpy/saxpy.ptx
	build-fuzz/tests/fuzz-pack -max_total_time=20 -rss_limit_mb=4096 -artifact_prefix=build-fuzz/ build-fuzz/packs
	mkdir -p build-fuzz/events
	build-fuzz/heddle check --no-sandbox --record-events build-fuzz/events/seed.txt examples/saxpy/saxpy.ptx 100 2.0 'f32[100]=range' \
		'f32[100]=undef' --grid 2 --block 64 || true
	build-fuzz/tests/fuzz-events -max_total_time=20 -rss_limit_mb=4096 -artifact_prefix=build-fuzz/ build-fuzz/events
	scripts/fuzz build-fuzz $(SECONDS)

clang:
	CC=clang-19 $(MAKE) BUILD=build-clang SETUP="--werror"

# The approximate functions against the hardware's answers to all 2^32 operands each, compiled code's too: minutes.
mufu: all
	mkdir -p $(BUILD)/oracle
	tar -xJf tests/oracle/mufu-h200.tar.xz -C $(BUILD)/oracle
	$(BUILD)/tests/mufu-checksums --all $(BUILD)/oracle
	[ ! -e $(BUILD)/heddle-jit ] || { $(BUILD)/tests/mufu-checksums --compiled uniform $(BUILD)/oracle && \
	    $(BUILD)/tests/mufu-checksums --all --compiled lanes $(BUILD)/oracle; }

# What things cost on this machine: every bench-* of the build, a table each, then Heddle beside PoCL and OpenMP C (those
# of them that are installed: pocl-opencl-icd ocl-icd-opencl-dev libomp-19-dev), then what checking and explaining cost. Figures want an
# idle machine.
bench: all
	@for b in $(BUILD)/bench/bench-*; do [ -x $$b ] && [ -f $$b ] && { $$b && echo || exit 1; }; done
	BUILD=$(CURDIR)/$(BUILD) bench/peers/compare
	BUILD=$(CURDIR)/$(BUILD) bench/peers/compare --check
	BUILD=$(CURDIR)/$(BUILD) bench/peers/compare --explain

# Campaigns, for SECONDS, on one core that nobody else wants: HACKING.md says what each shows. SEED makes one again.
SEED ?= $(shell date +%s)
CAMPAIGN = HEDDLE_BUILD=$(CURDIR)/$(BUILD) nice tests/campaigns/campaign.py --seed $(SEED) --found $(BUILD)/found

# Random programs by every engine and policy, then extreme strides among canaries; half of the time each.
fuzz-engines: all
	nice $(BUILD)/tests/engines --statements 12 --seconds $$(($(SECONDS) / 4)) --seed $(SEED)
	nice $(BUILD)/tests/engines --seconds $$(($(SECONDS) / 4)) --seed $(SEED)
	$(CAMPAIGN) strides --seconds $$(($(SECONDS) / 4))
	$(CAMPAIGN) moves --seconds $$(($(SECONDS) / 4))

# PTX with changed tokens and lines: read, printed, run by both engines.
fuzz-ptx: all
	$(CAMPAIGN) mutants --seconds $(SECONDS)

# Launches, streams, events and graphs from eight threads of Python: memory stays as it is.
soak: all
	HEDDLE_BUILD=$(BUILD) tests/campaigns/soak.py --launches 400000

# Kernels with and without data races, under the checker, held against the memory model.
fuzz-races: all
	$(CAMPAIGN) races --seconds $(SECONDS)

# Damaged images, programs, files and messages; a quarter of the time each.
fuzz-image: all
	$(CAMPAIGN) images --seconds $$(($(SECONDS) / 4))
	$(CAMPAIGN) messages --seconds $$(($(SECONDS) / 4))
	$(CAMPAIGN) programs --seconds $$(($(SECONDS) / 4))
	$(CAMPAIGN) events --seconds $$(($(SECONDS) / 4))

# All that an H200 has answered, held against compiled code: minutes.
.PHONY: oracle-jit
oracle-jit: all
	@dir=$$(mktemp -d) && for part in forms simt contract kernels; do tar -xJf tests/oracle/$$part-h200.tar.xz -C $$dir; done && \
	for level in v2 v3 v4; do \
	    $(BUILD)/tests/oracle-forms --engine jit --cpu $$level $$dir && \
	    $(BUILD)/tests/oracle-simt --engine jit --cpu $$level $$dir && \
	    $(BUILD)/tests/oracle-contract --engine jit --cpu $$level $$dir && \
	    $(BUILD)/tests/oracle-kernels --engine jit --cpu $$level $$dir || exit 1; \
	done; rm -rf $$dir

# Heddle for AArch64, built by Debian's cross compiler, under qemu-user: it shows results, not the order of memory operations
# (tests/orders does). Installs what it needs (the architecture arm64, a cross compiler, qemu-user); minutes.
.PHONY: check-aarch64
check-aarch64: all
	scripts/setup aarch64
	[ -e build-aarch64/build.ninja ] || meson setup build-aarch64 --cross-file scripts/aarch64.ini --werror -Djit=disabled
	ninja -C build-aarch64
	tests/run-aarch64 $(BUILD) build-aarch64

# What `heddle explain` counts beside what an H200 has counted, its times beside measured ones: tables of docs/EXPLAIN.md.
explain-agreement: all
	HEDDLE_BUILD=$(CURDIR)/$(BUILD) tests/explain/agreement.py --write docs/EXPLAIN.md
	HEDDLE_BUILD=$(CURDIR)/$(BUILD) tests/explain/unseen.py --write docs/EXPLAIN.md
	HEDDLE_BUILD=$(CURDIR)/$(BUILD) tests/explain/asynchronous.py --write docs/EXPLAIN.md

# How far the times are off that it estimates: counts the recorded kernels anew (minutes), fits, leaves kernels out.
explain-times: all
	HEDDLE_BUILD=$(CURDIR)/$(BUILD) tests/model/record.py
	xz -dc tests/model/recorded.txt.xz >$(BUILD)/recorded.txt
	$(BUILD)/tests/model-fit --cross $(BUILD)/recorded.txt
	$(BUILD)/tests/model-fit --fit $(BUILD)/recorded.txt

# Pages that are made from tables.
docs: all
	$(BUILD)/heddle ptx --isa --markdown >docs/ISA.md.new
	mv docs/ISA.md.new docs/ISA.md
	scripts/write-mistakes $(BUILD)/heddle >docs/MISTAKES.md.new
	mv docs/MISTAKES.md.new docs/MISTAKES.md
	scripts/api-docs >docs/API.md
	scripts/library-docs >docs/LIBRARIES.md
	scripts/finding-docs >docs/FINDINGS.md
	scripts/environment-docs >docs/ENVIRONMENT.md

# The greatest error of each math function of device code, beside CUDA's bound: docs/MATH.md.
ulp: all
	$(BUILD)/heddle cc tests/ulp/ulp.cu -O2 -o $(BUILD)/ulp -lmpfr -lgmp
	$(BUILD)/ulp

format:
	git ls-files '*.c' '*.cc' '*.h' ':!third_party' | xargs clang-format-19 -i

lint: all
	git ls-files '*.c' '*.cc' '*.h' ':!third_party' | xargs clang-format-19 --dry-run --Werror
	scripts/check-layers
	scripts/check-comments
	scripts/symbol-circles $(BUILD) --most 3

clean:
	rm -rf build build-*

.PHONY: all soak ulp test check-all check-levels clients programs explain-agreement explain-times install wheel deb vsix mufu bench fuzz fuzz-engines fuzz-ptx fuzz-races fuzz-image docs sanitize sanitize-thread clang format lint clean
