package main

import (
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/internal/test/peer"
)

func httpCases() []Case {
	curl := Rival{"curl", []string{"-q", "-sS", "--noproxy", "*", "{url}"}}
	wget := Rival{"wget", []string{"--no-config", "--no-proxy", "--no-hsts", "-q", "-O-", "{url}"}}
	fetch := []string{"--no-config", "{url}"}
	return []Case{{
		Name:    "http 1 GiB",
		Serve:   serveFile(1 << 30),
		Fetch:   fetch,
		Rivals:  []Rival{curl, wget},
		Targets: []Target{{Measure: wall, Ratio: 0.7}, {Measure: cpu, Ratio: 0.5}, {Measure: memory, Limit: 32 << 20}},
	}, {
		Name:  "http 1 GiB, into a file",
		Serve: serveFile(1 << 30),
		Fetch: []string{"--no-config", "-s", "-o", "{dir}/file", "{url}"},
		Rivals: []Rival{
			{"curl", []string{"-q", "-sS", "--noproxy", "*", "-o", "{dir}/file", "{url}"}},
			{"wget", []string{"--no-config", "--no-proxy", "--no-hsts", "-q", "-O", "{dir}/file", "{url}"}},
		},
		Targets: []Target{{Measure: wall, Ratio: 0.9}, {Measure: cpu, Ratio: 0.6}, {Measure: memory, Limit: 32 << 20}},
	}, {
		Name:    "http 10 KiB",
		Serve:   serveFile(10 << 10),
		Fetch:   fetch,
		Rivals:  []Rival{curl, wget},
		Starts:  50,
		Targets: []Target{{Measure: wall, Ratio: 0.75}, {Measure: cpu, Ratio: 0.8}},
	}}
}

// serveFile returns a function that starts nginx with one file of random bytes.
// The bytes are random so that the file cannot be compressed.
func serveFile(size int64) func(peer.TB) Object { return serveFrom(peer.NginxOptions{}, size) }

func serveFrom(options peer.NginxOptions, size int64) func(peer.TB) Object {
	return func(t peer.TB) Object {
		s := peer.Nginx(t, options)
		sum, err := writeRandom(filepath.Join(s.Root, "file"), size)
		if err != nil {
			t.Fatalf("bench: %v", err)
		}
		return Object{Sum: sum, Words: map[string]string{"url": "http://" + s.Addr + "/file"}}
	}
}

// writeRandom writes pseudorandom bytes to a file. The bytes are the same in
// each run.
func writeRandom(path string, size int64) (sum [sha256.Size]byte, err error) {
	f, err := os.Create(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(f, hash), rand.NewChaCha8([32]byte{}), size); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(hash.Sum(nil)), f.Close()
}
