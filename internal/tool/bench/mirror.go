package main

import (
	"bufio"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/internal/test/peer"
)

// mirrorCases returns the cases that mirror a site. The time of fetch includes
// updates of its database, digests and journal.
func mirrorCases() []Case {
	wget := []string{"--no-config", "--no-proxy", "--no-hsts", "-q", "-r", "-np", "-nH"}
	tree := append(wget, "-l", "9", "-P", "{dir}", "{url}/")
	fetch := []string{"--no-config", "-s", "mirror", "--output-dir", "{dir}"}
	lftp := func(options string) []string {
		return []string{"--norc", "-c", "set net:max-retries 1; " + options + " {url}/ {dir}/"}
	}
	return []Case{{
		Name:    "mirror http, one file",
		Serve:   serveOne,
		Fetch:   append(fetch, "{url}"),
		Rivals:  []Rival{{"wget", append(wget, "-l", "0", "-P", "{dir}", "{url}")}},
		Starts:  20,
		Targets: []Target{{Measure: cpu, Ratio: 8}},
	}, {
		Name:  "mirror http, 10,000 files",
		Serve: serveSite(10_000),
		Items: 10_000,
		Fetch: append(fetch, "{url}/"),
		Rivals: []Rival{
			{"wget2", append([]string{"--no-config", "--no-proxy", "--no-hsts", "-q", "-r", "-np", "-nH", "-l", "9", "-P", "{dir}"}, "{url}/")},
			{"wget", tree},
			{"lftp", lftp("mirror --parallel=4")},
		},
		Targets: []Target{{Measure: wall, Ratio: 1}, {Measure: cpu, Ratio: 1.5}, {Measure: memory, Limit: 128 << 20}},
	}, {
		Name:    "mirror http into WARC, 10,000 files",
		Serve:   serveSite(10_000),
		Items:   10_000,
		Fetch:   append(fetch, "--warc", "--no-tree", "{url}/"),
		Rivals:  []Rival{{"wget", append(wget, "-l", "9", "-P", "{dir}", "--delete-after", "--warc-file={dir}/wget", "--warc-cdx", "{url}/")}},
		Targets: []Target{{Measure: wall, Ratio: 0.25}, {Measure: cpu, Ratio: 0.35}, {Measure: memory, Limit: 128 << 20}},
	}, {
		Name:    "mirror ftp, 2,000 files, 1 connection",
		Serve:   serveFolder(ftpFiles),
		Items:   ftpFiles,
		Fetch:   append(fetch, "--per-host", "1", "{url}/"),
		Rivals:  []Rival{{"wget", tree}, {"lftp", lftp("mirror")}},
		Targets: []Target{{Measure: wall, Ratio: 1}, {Measure: cpu, Ratio: 1.5}, {Measure: memory, Limit: 128 << 20}},
	}, {
		Name:    "mirror ftp, 2,000 files, 4 connections",
		Serve:   serveFolder(ftpFiles),
		Items:   ftpFiles,
		Fetch:   append(fetch, "--per-host", "4", "{url}/"),
		Rivals:  []Rival{{"wget", tree}, {"lftp", lftp("mirror --parallel=4")}},
		Targets: []Target{{Measure: wall, Ratio: 0.6}, {Measure: cpu, Ratio: 1.4}, {Measure: memory, Limit: 128 << 20}},
	}}
}

// serveOne starts nginx with one text file. The case measures the start of a
// mirror.
func serveOne(t peer.TB) Object {
	s := peer.Nginx(t, peer.NginxOptions{})
	text := []byte("one file\n")
	s.Put("file.txt", text)
	all := digests{sha256.Sum256(text), sha1Of(text)}
	return Object{CheckDir: all.checkDir, Words: map[string]string{"url": "http://" + s.Addr + "/file.txt"}}
}

// serveSite returns a function that starts nginx with text files of 1 to 4 KB in
// directories of 100 files. It also creates pages that link to the files.
func serveSite(files int) func(peer.TB) Object {
	return func(t peer.TB) Object {
		s := peer.Nginx(t, peer.NginxOptions{HTTP: "keepalive_requests 1000000;"})
		random := rand.New(rand.NewChaCha8([32]byte{}))
		var all digests
		var root strings.Builder
		for d := range files / 100 {
			var page strings.Builder
			fmt.Fprintf(&page, "<h1>Directory %02d</h1>\n", d) // pages with the same text look like a trap
			for f := range 100 {
				text := make([]byte, 1000+random.IntN(3000))
				for i := range text {
					text[i] = byte(' ' + random.IntN(64))
				}
				all = append(all, sha256.Sum256(text), sha1Of(text))
				s.Put(fmt.Sprintf("site/%02d/%02d.txt", d, f), text)
				fmt.Fprintf(&page, "<a href=\"%02d.txt\">%02d</a>\n", f, f)
			}
			s.Put(fmt.Sprintf("site/%02d/index.html", d), []byte(page.String()))
			fmt.Fprintf(&root, "<a href=\"%02d/\">%02d</a>\n", d, d)
		}
		s.Put("site/index.html", []byte(root.String()))
		s.Put("robots.txt", []byte("User-agent: *\nDisallow:\n"))
		return Object{CheckDir: all.checkDir, Words: map[string]string{"url": "http://" + s.Addr + "/site"}}
	}
}

// serveFolder returns a function that starts vsftpd with a directory of files.
func serveFolder(files int) func(peer.TB) Object {
	return func(t peer.TB) Object {
		s := vsftpd(t)
		random := rand.NewChaCha8([32]byte{})
		var all digests
		for f := range files {
			content := make([]byte, ftpFileSize)
			random.Read(content)
			all = append(all, sha256.Sum256(content), sha1Of(content))
			s.Put(fmt.Sprint("files/", 1000+f), content)
		}
		return Object{CheckDir: all.checkDir, Words: map[string]string{"url": "ftp://" + s.Addr + "/files"}}
	}
}

// digests contains two digests of each object. The SHA-256 is compared with
// files, and the SHA-1 is compared with WARC records.
type digests [][sha256.Size]byte

// sha1Of returns the SHA-1 of text, padded to the size of a SHA-256 digest.
func sha1Of(text []byte) (sum [sha256.Size]byte) {
	digest := sha1.Sum(text)
	copy(sum[:], digest[:])
	return sum
}

// checkDir returns an error if an object is missing from the files and WARC
// files below dir.
func (h digests) checkDir(dir string) error {
	found := map[[sha256.Size]byte]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasSuffix(path, ".warc.gz") {
			return payloads(path, found)
		}
		text, err := os.ReadFile(path)
		found[sha256.Sum256(text)] = true
		return err
	})
	if err != nil {
		return err
	}
	for i := 0; i < len(h); i += 2 {
		if !found[h[i]] && !found[h[i+1]] {
			return fmt.Errorf("%s lacks the object %d of %d", dir, i/2, len(h)/2)
		}
	}
	return nil
}

// payloads adds the payload digest of each record in a WARC file to found.
func payloads(path string, found map[[sha256.Size]byte]bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for lines := bufio.NewReader(z); ; {
		line, err := lines.ReadString('\n')
		if digest, ok := strings.CutPrefix(strings.TrimSpace(line), "WARC-Payload-Digest: sha1:"); ok {
			var sum [sha256.Size]byte
			if _, err := base32.StdEncoding.Decode(sum[:], []byte(digest)); err != nil {
				return err
			}
			found[sum] = true
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
