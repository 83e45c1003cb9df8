package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/internal/test/peer"
)

// itself is a rival: fetch with other arguments.
const itself = "fetch"

const manyFiles = 10_000

// remoteCases returns the cases that verify downloads, and the cases with
// buckets, WebDAV and rsync servers.
func remoteCases() []Case {
	fetch := func(args ...string) []string { return append([]string{"--no-config", "-s"}, args...) }
	rclone := func(args ...string) []string { return append(args, "--config", "/dev/null", "-q") }
	dav := ":webdav,url='{url}':"
	s3 := ":s3,provider=Other,endpoint='{endpoint}',region=us-east-1,access_key_id=" + peer.User + ",secret_access_key=" + peer.Password + ":"
	return []Case{{
		Name:    "http 1 GiB, digest and signature, into a file",
		Serve:   serveSigned,
		Fetch:   fetch("--checksum", "sha256={sha256}", "--signature", "{signature}", "--keyring", "{key}", "-o", "{dir}/file", "{url}"),
		Rivals:  []Rival{{itself, fetch("-o", "{dir}/file", "{url}")}},
		Targets: []Target{{Measure: wall, Ratio: 1.1}},
	}, {
		Name:    "metalink 256 MiB, four mirrors of 50 MB/s, into a file",
		Serve:   serveMirrors,
		Fetch:   fetch("--metalink", "--output-dir", "{dir}", "{metalink}"),
		Rivals:  []Rival{{itself, fetch("-o", "{dir}/file", "{url}")}},
		Targets: []Target{{Measure: wall, Ratio: 1 / 3.5}},
	}, {
		Name:    "s3 1 GiB, into a file",
		Serve:   serveBucket(1),
		Fetch:   fetch("--s3-endpoint", "{endpoint}", "-o", "{dir}/file", "s3://bucket/file"),
		Rivals:  []Rival{{"rclone", rclone("copyto", s3+"bucket/file", "{dir}/file")}},
		Targets: []Target{{Measure: wall, Ratio: 1}, {Measure: cpu, Ratio: 1}},
	}, {
		Name:    "mirror s3, 10,000 objects",
		Serve:   serveBucket(manyFiles),
		Items:   manyFiles,
		Fetch:   fetch("mirror", "--s3-endpoint", "{endpoint}", "--output-dir", "{dir}", "s3://bucket/"),
		Rivals:  []Rival{{"rclone", rclone("copy", s3+"bucket", "{dir}")}},
		Targets: []Target{{Measure: wall, Ratio: 1}, {Measure: cpu, Ratio: 1}},
	}, {
		Name:    "WebDAV, list of 10,000 files",
		Serve:   serveDAV,
		Fetch:   []string{"--no-config", "ls", "--dav", "{url}"},
		Rivals:  []Rival{{"rclone", rclone("lsf", dav)}},
		Targets: []Target{{Measure: wall, Ratio: 1}, {Measure: cpu, Ratio: 1}, {Measure: memory, Limit: 64 << 20}},
	}, {
		Name:    "rsync 1 GiB, into a file",
		Serve:   serveRsync(1),
		Fetch:   fetch("-o", "{dir}/file", "{url}/file"),
		Rivals:  []Rival{{"rsync", []string{"-q", "{url}/file", "{dir}/file"}}},
		Targets: []Target{{Measure: wall, Ratio: 1.5}},
	}, {
		Name:    "mirror rsync, 10,000 files",
		Serve:   serveRsync(manyFiles),
		Items:   manyFiles,
		Fetch:   fetch("mirror", "--output-dir", "{dir}", "{url}/"),
		Rivals:  []Rival{{"rsync", []string{"-q", "-r", "{url}/", "{dir}/"}}},
		Targets: []Target{{Measure: wall, Ratio: 1.2}},
	}}
}

// serveSigned starts nginx with a file that minisign has signed.
func serveSigned(t peer.TB) Object {
	s := peer.Nginx(t, peer.NginxOptions{})
	path := filepath.Join(s.Root, "file")
	sum, err := writeRandom(path, 1<<30)
	if err != nil {
		t.Fatalf("bench: %v", err)
	}
	key, signature := peer.Minisign(t, path, false)
	return Object{Sum: sum, Words: map[string]string{
		"url": "http://" + s.Addr + "/file", "sha256": fmt.Sprintf("%x", sum), "key": key, "signature": signature,
	}}
}

// serveMirrors starts four slow servers with the same file, and writes a Metalink
// document with the digests of its pieces.
func serveMirrors(t peer.TB) Object {
	const size, piece = 256 << 20, 4 << 20
	var doc strings.Builder
	var urls []string
	var sum [sha256.Size]byte
	for i := range 4 {
		s := peer.Nginx(t, peer.NginxOptions{Rate: "50m"})
		path := filepath.Join(s.Root, "file")
		var err error
		if sum, err = writeRandom(path, size); err != nil {
			t.Fatalf("bench: %v", err)
		}
		if urls = append(urls, "http://"+s.Addr+"/file"); i == 0 {
			fmt.Fprintf(&doc, `<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="file"><size>%d</size><hash type="sha-256">%x</hash>`, size, sum)
			writePieces(t, &doc, path, piece)
		}
	}
	for _, url := range urls {
		fmt.Fprintf(&doc, "<url>%s</url>", url)
	}
	doc.WriteString("</file></metalink>")
	s := peer.Nginx(t, peer.NginxOptions{})
	s.Put("file.meta4", []byte(doc.String()))
	return Object{Sum: sum, Words: map[string]string{"url": urls[0], "metalink": "http://" + s.Addr + "/file.meta4"}}
}

// writePieces writes the digests of the pieces of a file.
func writePieces(t peer.TB, w io.Writer, path string, size int64) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatalf("bench: %v", err)
	}
	defer f.Close()
	fmt.Fprintf(w, `<pieces length="%d" type="sha-256">`, size)
	for {
		h := sha256.New()
		if n, err := io.CopyN(h, f, size); n == 0 {
			break
		} else if err != nil && err != io.EOF {
			t.Fatalf("bench: %v", err)
		}
		fmt.Fprintf(w, "<hash>%x</hash>", h.Sum(nil))
	}
	io.WriteString(w, "</pieces>")
}

// putFiles adds one file of 1 GiB with the name "file", or n small files, below
// folder. It returns the Object for a directory with copies.
func putFiles(t peer.TB, s *peer.Server, folder string, n int) Object {
	if n == 1 {
		s.Put(folder+"/file", nil)
		sum, err := writeRandom(filepath.Join(s.Root, folder, "file"), 1<<30)
		if err != nil {
			t.Fatalf("bench: %v", err)
		}
		return Object{Sum: sum, Words: map[string]string{}}
	}
	random := rand.NewChaCha8([32]byte{})
	var all digests
	for i := range n {
		content := make([]byte, 2000)
		random.Read(content)
		all = append(all, sha256.Sum256(content), sha1Of(content))
		s.Put(fmt.Sprintf("%s/%05d", folder, i), content)
	}
	return Object{CheckDir: all.checkDir, Words: map[string]string{}}
}

// serveBucket returns a function that starts versitygw with n objects. Its key is
// in the environment.
func serveBucket(n int) func(peer.TB) Object {
	return func(t peer.TB) Object {
		s := peer.Versitygw(t, "bucket")
		object := putFiles(t, s, "bucket", n)
		object.Words["endpoint"] = "http://" + s.Addr
		for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": peer.User, "AWS_SECRET_ACCESS_KEY": peer.Password, "AWS_REGION": "us-east-1"} {
			os.Setenv(name, value)
		}
		os.Unsetenv("AWS_CA_BUNDLE") // rclone refuses it
		return object
	}
}

// serveDAV starts apache2 with a directory of empty files. The programs print
// the list in different forms.
func serveDAV(t peer.TB) Object {
	s := peer.ApacheDAV(t)
	for i := range manyFiles {
		s.Put(fmt.Sprintf("many/file-%05d", i), nil)
	}
	return Object{CheckDir: func(string) error { return nil }, Words: map[string]string{"url": "http://" + s.Addr + "/many/"}}
}

// serveRsync returns a function that starts the rsync daemon with n files.
func serveRsync(n int) func(peer.TB) Object {
	return func(t peer.TB) Object {
		s := peer.Rsyncd(t)
		object := putFiles(t, s, "many", n)
		object.Words["url"] = "rsync://" + s.Addr + "/files/many"
		return object
	}
}
