# make          list these targets
# make build    build bin/fetch, a static binary
# make test     run gofmt, go vet and all tests; installs the servers if root
# make test-scheme S=ftp  run the tests that a change of a scheme can affect
# make peers    install the servers and clients for tests and benchmarks (Debian)
# make lint     run go vet and staticcheck
# make fuzz     run each fuzz target for FUZZTIME
# make fuzz-coverage  count the statements that the inputs of each fuzz target reach
# make fuzz-corpus  store the generated inputs that reach further statements
# make loaded RUNS=10 TOGETHER=1  run all tests again and again beside stress-ng
# make bench    run Go benchmarks, then compare fetch with curl, wget and others
# make bench-compare BASE=REV  compare with another revision, which it builds
# make bench-large  compare the cost of an item in tasks of two sizes
# make recordings  record the terminal sessions in doc/ with tmux
# make screenshots  take the pictures in doc/img with Chromium
# make soak     run the long tests, which have the build tag soak
# make mutants PACKAGES=./uri  run the tests of packages with changed operators
# make simulate SEEDS="-first 1 -last 20"  run simulated crawls that repeat exactly
# make seeded-bugs  show that the tests fail for each bug in internal/test/seeded
# make other-machines  run the tests of codecs on other processors with qemu-user
# make testing-report  measure the figures of doc/testing.md
# make release  build the archives and packages of a release in dist/
# make release-test  build a release for this machine twice, and install it
# make vuln     report known vulnerabilities of the dependencies (needs the Internet)
# make clean    remove bin and dist

FUZZTIME ?= 10s
SOAKTIME ?= 12h
BENCH    ?=

# NORACE compiles SQLite, which is C code translated to Go, without the race
# detector. Checking its memory accesses finds no races of this module and makes
# the tests of mirror/internal/frontier/sqlite seven times slower.
NORACE := modernc.org/...=-race=false

# JOBS is the number of packages that are tested at a time. Many tests wait for
# servers and timeouts, so more packages than processors run at a time.
JOBS ?= 4

# HANG is the time after which the tests of a package count as hung. The longest
# package needs a quarter of it on a quiet machine with two processors.
HANG := 30m

# A process with the race detector sleeps for a second before it exits, unless
# GORACE has another time. The tests of the command start hundreds of processes.
export GORACE ?= atexit_sleep_ms=0

.PHONY: help build test test-scheme peers lint fuzz fuzz-coverage fuzz-corpus bench bench-compare bench-large loaded soak mutants simulate seeded-bugs other-machines testing-report recordings screenshots release release-test vuln clean

# help prints the lines about targets at the start of this file.
help:
	@sed -n '/^# make/!q; s/^# //p' Makefile

build:
	CGO_ENABLED=0 go build -trimpath -o bin/fetch ./cmd/fetch

# Several tests build the command at the same time. The first "go build" fills
# the cache for all of them, with less garbage collection in the compiler. Temporary
# files of the tests are in memory.
test: peers
	@files=$$(gofmt -l .); test -z "$$files" || { echo "run gofmt -w on:" $$files; exit 1; }
	GOGC=400 go build ./...
	internal/test/testdir/run go test -race -vet=all -p $(JOBS) -gcflags='$(NORACE)' -timeout $(HANG) ./...

# scheme-tests are the packages that test-scheme tests: those that import the
# scheme in the folder schemes/$(S), also only in tests; the tests that every
# scheme must pass; and the rules for imports.
scheme-tests = $$(go list -f '{{.ImportPath}} {{.ImportPath}}{{range .Imports}} {{.}}{{end}}{{range .TestImports}} {{.}}{{end}}{{range .XTestImports}} {{.}}{{end}} ' ./... | \
	grep ' [^ ]*/schemes/$(S) ' | cut -d ' ' -f 1) ./fetch/fetchtest ./internal/arch

test-scheme:
	@test -n "$(S)" -a -d "schemes/$(S)" || { echo "S is the name of a folder in schemes: make test-scheme S=ftp"; exit 1; }
	go vet ./schemes/$(S)/...
	go test -race -p $(JOBS) -gcflags='$(NORACE)' -timeout $(HANG) $(scheme-tests)

peers:
	@internal/test/peer/install

lint:
	go vet ./...
	go vet -tags soak ./...
	go vet -modfile=tools.mod -tags release ./internal/tool/release
	go tool staticcheck -tags soak ./...

fuzz:
	mkdir -p $(RESULTS)
	go run ./internal/tool/fuzz -time $(FUZZTIME) -results $(RESULTS)

# The targets run only with their stored inputs and those in the source.
fuzz-coverage: peers
	mkdir -p $(RESULTS)
	go run ./internal/tool/fuzz -coverage -results $(RESULTS)

# The inputs come from the fuzz cache of the go command, which "make fuzz" fills.
fuzz-corpus: peers
	go run ./internal/tool/fuzz -store

bench: build peers
	go test -run '^$$' -bench . -benchmem ./...
	go run ./internal/tool/bench $(BENCH)

bench-compare: build peers
	@git rev-parse -q --verify "$(BASE)^{commit}" || { echo "BASE is a revision to compare with: make bench-compare BASE=HEAD~1"; exit 1; }
	folder=$$(mktemp -d) && git archive "$(BASE)" | tar -x -C "$$folder" && \
		(cd "$$folder" && CGO_ENABLED=0 go build -trimpath -o "$(CURDIR)/bin/base" ./cmd/fetch); status=$$?; rm -r "$$folder"; exit $$status
	go run ./internal/tool/bench -base bin/base $(BENCH)

# Files of up to 20 GiB are written to TMPDIR and removed again.
bench-large: build peers
	go run ./internal/tool/bench -large -runs 1 $(BENCH)

# RESULTS is the folder of the figures that tests write for doc/testing.md.
RESULTS := $(CURDIR)/bin/results

soak: peers
	mkdir -p $(RESULTS)
	FETCH_RESULTS=$(RESULTS) internal/test/testdir/run go test -p $(JOBS) -tags soak -run Soak -timeout $(SOAKTIME) -v ./...

# RUNS is the number of runs, and TOGETHER that of the runs at the same time.
RUNS ?= 10
TOGETHER ?= 1

loaded: peers
	mkdir -p $(RESULTS)
	go run ./internal/tool/loaded -runs $(RUNS) -together $(TOGETHER) -results $(RESULTS) make test HANG=3h

PACKAGES ?= ./uri ./fetch ./save ./wrap ./warc ./internal/wire/http1 ./mirror/internal/archive ./mirror/internal/frontier/rules ./schemes/internal/sessions \
	./internal/wire/z3950/apdu,./schemes/z3950

mutants:
	mkdir -p $(RESULTS)
	go run ./internal/tool/mutants -results $(RESULTS) $(PACKAGES)

SEEDS ?= -last 20

# The program compiles the standard library with a changed runtime, which takes
# minutes at its first run.
simulate:
	mkdir -p $(RESULTS)
	go run ./internal/tool/simulate -twice -results $(RESULTS) $(SEEDS)

seeded-bugs: peers
	mkdir -p $(RESULTS)
	go run ./internal/tool/seededbugs -results $(RESULTS)

# CODECS are packages without connections, which also run on a big-endian
# processor. The emulator is in the Debian package qemu-user-static.
CODECS := ./uri ./internal/wire/ber ./internal/wire/oncrpc ./internal/wire/line ./internal/wire/z3950/apdu

other-machines:
	GOOS=linux GOARCH=s390x CGO_ENABLED=0 go test -short -exec qemu-s390x-static $(CODECS)
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 go test -short -exec qemu-aarch64-static $(CODECS)
	GOOS=linux GOARCH=riscv64 CGO_ENABLED=0 go test -short -exec qemu-riscv64-static $(CODECS)

# The figures of the soak tests and of the mutants are kept if they are not
# measured again.
testing-report: peers
	mkdir -p $(RESULTS)
	rm -f $(RESULTS)/kill-points.jsonl $(RESULTS)/power-loss.jsonl $(RESULTS)/networks-that-die.jsonl $(RESULTS)/simulated-crawl.jsonl
	FETCH_RESULTS=$(RESULTS) go test -count=1 -timeout $(HANG) -run 'TestKillPoints|TestPowerLoss|TestDeadNetworks|TestSimulatedCrawl' \
		./internal/test/crash ./schemes/... ./internal/test/schemetest ./internal/format/store/s3 ./mirror
	go run ./internal/tool/testingreport -results $(RESULTS)

release:
	go run -modfile=tools.mod -tags release ./internal/tool/release -o dist

release-test: peers
	go test -modfile=tools.mod -tags release -run Release -count 1 -timeout $(HANG) -v ./internal/tool/release

vuln:
	go run golang.org/x/vuln/cmd/govulncheck@v1.3.0 ./...

recordings:
	FETCH_RECORD=1 go test -count=1 -run '^TestRecordings$$' ./cmd/fetch

screenshots:
	FETCH_SCREENSHOTS=1 go test -count=1 -run '^TestScreenshots$$' ./gateway

clean:
	rm -rf bin dist
