package warc

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/parallel"
)

// A Package contains the metadata of a WACZ file, such as its title. The zero
// value is ready to use.
type Package struct {
	Title    string
	Software string    // name of the program; if empty, "fetch (github.com/anyurl/fetch)"
	Created  time.Time // if zero, the current time

	// If Text is true, Pack adds the text of each listed page, so that replay
	// software can search it.
	Text bool

	// Seeds are the URLs from which the crawl started. Their pages are marked as
	// seeds.
	Seeds []string

	// main is the start page for replay. Pack sets it if its URL is empty.
	main packedPage
}

type fileJSON struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

type packageJSON struct {
	Profile      string     `json:"profile"`
	Version      string     `json:"wacz_version"`
	Title        string     `json:"title,omitempty"`
	Created      string     `json:"created"`
	Software     string     `json:"software"`
	MainPageURL  string     `json:"mainPageUrl,omitempty"`
	MainPageDate string     `json:"mainPageDate,omitempty"`
	Resources    []fileJSON `json:"resources"`
}

// Pack writes a WACZ file, version 1.1.1, to w. The file contains the WARC files
// of the archive and their index. The zip format does not compress the WARC
// files again, so that records can be read directly. If a WARC file is
// unfinished, the error wraps fetch.InUse.
//
// WACZ files contain neither zstd frames nor ARC files. Pack converts such files
// to WARC files that are compressed with gzip, in a temporary directory.
//
// The page list, which a viewer shows first, contains all HTML pages with the
// HTTP status 200 and all listings of other schemes. The start page for replay
// is the page of the first seed that has a page.
func (a *Archive) Pack(w io.Writer, p Package) error {
	names := slices.Sorted(maps.Keys(a.sections))
	for _, name := range names {
		if strings.HasSuffix(name, OpenSuffix) {
			return fetch.InUse.Errorf("%s is still being written", a.sections[name].path)
		}
	}
	if slices.ContainsFunc(names, func(name string) bool { return !isPackable(name) }) {
		return a.packConverted(w, p, names)
	}
	z := &packer{zip: zip.NewWriter(w), time: p.Created}
	if z.time.IsZero() {
		z.time = time.Now()
	}
	for _, name := range names {
		if err := z.archive(name, a.sections[name]); err != nil {
			return err
		}
	}
	if err := z.addIndex(a); err != nil {
		return err
	}
	if err := z.addPages(a, &p); err != nil {
		return err
	}
	if err := z.describe(p); err != nil {
		return err
	}
	return z.zip.Close()
}

// A packer writes the parts of a WACZ file and computes their digests.
type packer struct {
	zip   *zip.Writer
	time  time.Time
	files []fileJSON
}

func (z *packer) archive(name string, where section) error {
	in, err := where.stream()
	if err != nil {
		return err
	}
	defer in.Close()
	return z.add("archive/"+name, zip.Store, in)
}

func (z *packer) add(name string, method uint16, r io.Reader) error {
	return z.create(name, method, func(w io.Writer) error {
		_, err := io.CopyBuffer(w, r, make([]byte, 4*bufferSize))
		return err
	})
}

func (z *packer) create(name string, method uint16, write func(io.Writer) error) error {
	w, err := z.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: z.time})
	if err != nil {
		return fetch.LocalError(err)
	}
	n := &written{w: w}
	p := part{n, sha256.New()}
	if err := write(p); err != nil {
		return fetch.LocalError(err)
	}
	hash := "sha256:" + hex.EncodeToString(p.hash.Sum(nil))
	z.files = append(z.files, fileJSON{Name: resourceName(path.Base(name)), Path: name, Hash: hash, Bytes: n.n})
	return nil
}

// resourceName returns the name of a resource in datapackage.json. It has only
// the characters that the Frictionless Data Package specification allows.
func resourceName(file string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || strings.ContainsRune("-._", r) {
			return r
		}
		return '-'
	}, strings.ToLower(file))
}

// describe writes datapackage.json and datapackage-digest.json.
func (z *packer) describe(p Package) error {
	d := packageJSON{
		Profile: "data-package", Version: "1.1.1", Title: p.Title, Software: p.Software,
		Created: z.time.UTC().Format(time.RFC3339), MainPageURL: p.main.URL, Resources: z.files,
	}
	if d.Software == "" {
		d.Software = software
	}
	if p.main.URL != "" && !p.main.Date.IsZero() {
		d.MainPageDate = p.main.Date.UTC().Format(time.RFC3339)
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	if err := z.add("datapackage.json", zip.Deflate, bytes.NewReader(text)); err != nil {
		return err
	}
	sum := z.files[len(z.files)-1]
	text, err = json.MarshalIndent(map[string]string{"path": sum.Path, "hash": sum.Hash}, "", "  ")
	if err != nil {
		return err
	}
	return z.add("datapackage-digest.json", zip.Deflate, bytes.NewReader(text))
}

// A part writes a file of a WACZ file, and computes its digest.
type part struct {
	*written
	hash hash.Hash
}

// Write writes b. It computes the digest of a large b at the same time.
func (p part) Write(b []byte) (int, error) {
	parallel.Write(b, []io.Writer{p.written, p.hash})
	return len(b), p.err
}

// A written counts the bytes that it writes to w, and keeps the error of w.
type written struct {
	w   io.Writer
	n   int64
	err error
}

func (w *written) Write(p []byte) (n int, err error) {
	n, w.err = w.w.Write(p)
	w.n += int64(n)
	return n, w.err
}
