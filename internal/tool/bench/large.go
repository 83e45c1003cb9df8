package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/internal/test/peer"
)

const (
	largeRecord  = 16 << 10 // bytes of a page in the archives
	frontierPart = 20       // URLs in a frontier for each URL that is visited
	replayed     = 2000     // pages that are requested from the archives
)

// largeCases returns the cases of make bench-large. The field normal is the
// number of items in a normal task.
func largeCases() []Case {
	mirror := []string{"--no-config", "-s", "mirror", "--output-dir", "{dir}"}
	archived := []string{"--no-config", "-s", "mirror", "--output-dir", "{archive}", "--warc", "--no-tree", "--max-queue", "2000000", "{url}/"}
	return growthCases([]growth{{
		name: "http files", item: "file", items: "files", normal: 10_000, serve: serveMany,
		steps: []step{
			{name: "http", args: fetchMany()},
			{name: "http into files", args: fetchMany("--output-dir", "{dir}")},
		},
	}, {
		name: "http mirror", item: "file", items: "files", normal: 10_000, serve: serveSite,
		steps: []step{
			{name: "mirror http", args: append(mirror, "{url}/"), memory: 128 << 20},
			{name: "mirror http into WARC", args: append(mirror, "--warc", "--no-tree", "{url}/"), memory: 128 << 20},
		},
	}, {
		name: "http archive", item: "file", items: "files", normal: 10_000, scale: 100, serve: serveArchived,
		steps: []step{
			{name: "mirror into WARC, first run", args: archived, memory: 128 << 20},
			{name: "index of the mirror", args: []string{"--no-config", "index", "{archive}"}, memory: 128 << 20},
			{name: "verify the mirror", args: []string{"--no-config", "-s", "verify", "{archive}"}, memory: 128 << 20},
			{name: "mirror into WARC, unchanged", args: archived, memory: 128 << 20},
		},
	}, {
		name: "ftp files", item: "file", items: "files", normal: ftpFiles, serve: serveFTPFiles,
		steps: []step{
			{name: "ftp, 1 connection", args: []string{"--no-config", "--input-file", "{list}"}},
			{name: "ftp into files, 4 connections", args: []string{"--no-config", "-Z", "--per-host", "4", "--output-dir", "{dir}", "--input-file", "{list}"}},
		},
	}, {
		name: "ftp mirror", item: "file", items: "files", normal: ftpFiles, serve: serveFolder,
		steps: []step{{name: "mirror ftp, 4 connections", args: append(mirror, "--per-host", "4", "{url}/"), memory: 128 << 20}},
	}, {
		name: "http body", item: "MiB", items: "MiB", normal: 1 << 10, serve: serveZeros,
		steps: []step{{name: "http body", args: []string{"--no-config", "{url}"}}},
	}, {
		name: "listing", item: "entry", items: "entries", normal: 100_000, serve: serveListing,
		steps: []step{
			{name: "list ftp", args: []string{"--no-config", "ls", "{ftp}"}, lines: true},
			{name: "list http", args: []string{"--no-config", "ls", "{http}"}, lines: true},
			{name: "list file", args: []string{"--no-config", "ls", "{file}"}, lines: true},
		},
	}, {
		name: "frontier", item: "URL", items: "URLs", normal: 1_000_000, serve: emptyFolder,
		steps: []step{
			{name: "frontier, add", program: "./mirror/internal/frontierload", args: []string{"add", "{folder}/fetch.db", "{items}"}},
			// A run reads all pages of the database when it opens the frontier.
			{name: "frontier, open", program: "./mirror/internal/frontierload", args: []string{"visit", "{folder}/fetch.db", "0"}},
			{name: "frontier, visit", program: "./mirror/internal/frontierload", args: []string{"visit", "{folder}/fetch.db", "{visits}"}, part: frontierPart},
		},
	}, {
		name: "WARC", item: "record", items: "records", normal: 1 << 30 / largeRecord, serve: writeLargeArchive,
		steps: []step{
			// The other tasks would remove the file of the replay from the cache of
			// the kernel, if the size is large.
			{name: "replay", items: replayed, measure: requestReplayed, memory: 128 << 20},
			{name: "verify", args: []string{"--no-config", "-s", "verify", "{archive}/warc/pages.warc.gz"}},
			{name: "index", args: []string{"--no-config", "index", "{archive}/warc/pages.warc.gz"}, lines: true},
			{name: "pack", args: []string{"--no-config", "-s", "pack", "{archive}", "--wacz", "{archive}.wacz"}},
		},
	}})
}

// serveArchived returns a function that does the same as that of serveSite, and
// creates a folder for an archive.
func serveArchived(files int) func(peer.TB) Object {
	return func(t peer.TB) Object {
		object := serveSite(files)(t)
		object.CheckDir = nil
		object.Words["archive"] = filepath.Join(scratchDir(t, false), "archive")
		return object
	}
}

// emptyFolder returns a function that creates an empty folder.
func emptyFolder(items int) func(peer.TB) Object {
	return func(t peer.TB) Object {
		return Object{Words: map[string]string{"folder": scratchDir(t, false), "items": fmt.Sprint(items), "visits": fmt.Sprint(items / frontierPart)}}
	}
}

// diskDir returns a directory on the disk, for files that may be larger than
// the memory of the machine.
func diskDir(t peer.TB) string {
	dir, err := os.MkdirTemp("", "fetch-bench-")
	if err != nil {
		t.Fatalf("bench: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// serveZeros returns a function that starts nginx with a sparse file of the
// given number of MiB, which uses no space on the disk.
func serveZeros(mib int) func(peer.TB) Object {
	return func(t peer.TB) Object {
		s := peer.Nginx(t, peer.NginxOptions{})
		size := int64(mib) << 20
		if err := os.Truncate(s.Put("file", nil), size); err != nil {
			t.Fatalf("bench: %v", err)
		}
		hash := sha256.New()
		if _, err := io.CopyN(hash, zeros{}, size); err != nil {
			t.Fatalf("bench: %v", err)
		}
		return Object{Sum: [sha256.Size]byte(hash.Sum(nil)), Words: map[string]string{"url": "http://" + s.Addr + "/file"}}
	}
}

// zeros is an endless sequence of zero bytes.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// serveListing returns a function that starts vsftpd and nginx with a directory
// of empty files.
func serveListing(entries int) func(peer.TB) Object {
	return func(t peer.TB) Object {
		ftp := vsftpd(t)
		dir := filepath.Join(ftp.Root, "many")
		first := ftp.Put("many/0000000.txt", nil)
		for n := 1; n < entries; n++ {
			// A hard link is cheaper than another file.
			from := first
			if n >= 50_000 {
				from = filepath.Join(dir, fmt.Sprintf("%07d.txt", n/50_000*50_000))
			}
			path := filepath.Join(dir, fmt.Sprintf("%07d.txt", n))
			if from == path {
				ftp.Put(fmt.Sprintf("many/%07d.txt", n), nil)
			} else if err := os.Link(from, path); err != nil {
				t.Fatalf("bench: %v", err)
			}
		}
		web := peer.Nginx(t, peer.NginxOptions{Server: "location /many/ { alias " + dir + "/; }"})
		return Object{Words: map[string]string{
			"ftp": "ftp://" + ftp.Addr + "/many/", "http": "http://" + web.Addr + "/many/", "file": "file://" + dir + "/",
		}}
	}
}

// writeLargeArchive returns a function that writes an archive of pages. The
// pages are random bytes, which cannot be compressed.
func writeLargeArchive(records int) func(peer.TB) Object {
	return func(t peer.TB) Object {
		archive := filepath.Join(diskDir(t), "archive")
		random := rand.NewChaCha8([32]byte{})
		page := make([]byte, largeRecord)
		err := writeServed(archive, records, func(n int) []byte {
			random.Read(page)
			copy(page, fmt.Sprintf("<h1>Page %d</h1>", n))
			return page
		})
		if err == nil {
			err = indexServed(archive)
		}
		if err != nil {
			t.Fatalf("bench: %v", err)
		}
		return Object{Words: map[string]string{"archive": archive}}
	}
}

// requestReplayed sends requests for archived pages to fetch serve, and measures the
// server.
func requestReplayed(b *block, opts options, object Object, records int) usage {
	s := startServe(b, opts.program, object.Words["archive"])
	first := s.firstByte(b, replayed, records, s.bytesPath)
	u := usage{memory: s.stop(b), wall: first * replayed}
	u[cpu] = (s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()).Seconds()
	return u
}
