# make build    bin/fetch: one static binary
# make test     what every change must pass; as root it brings the servers first
# make peers    the servers and clients that tests and benchmarks run (Debian)
# make lint     go vet and staticcheck
# make fuzz     each fuzz target for FUZZTIME
# make bench    Go's benchmarks, then fetch against curl and wget
# make soak     the long runs: tests named Soak, in files with the build tag soak

FUZZTIME ?= 10s
SOAKTIME ?= 12h
BENCH    ?=

# SQLite is C code translated to Go. Checks of its memory accesses for races
# and of its pointers find nothing in this module and take ten times as long as
# the tests of internal/frontier.
NORACE := modernc.org/...=-race=false

.PHONY: build test peers lint fuzz bench soak clean

build:
	CGO_ENABLED=0 go build -trimpath -o bin/fetch ./cmd/fetch

test: peers
	@files=$$(gofmt -l .); test -z "$$files" || { echo "not as gofmt writes it:" $$files; exit 1; }
	go vet ./...
	go test -race -gcflags='$(NORACE)' -timeout 14m ./...

peers:
	@internal/peer/install

lint:
	go vet ./...
	go vet -tags soak ./...
	go tool staticcheck -tags soak ./...

fuzz:
	@grep -rE --include='*_test.go' '^func Fuzz' . | sed 's/_test.go:func/ /; s/(.*//' | sort | while read -r file target; do \
		echo "$$target in $$(dirname $$file)"; \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$(dirname $$file)" || exit 1; \
	done

bench: build peers
	go test -run '^$$' -bench . -benchmem ./...
	go run ./internal/bench $(BENCH)

soak: peers
	go test -tags soak -run Soak -timeout $(SOAKTIME) -v ./...

clean:
	rm -rf bin
