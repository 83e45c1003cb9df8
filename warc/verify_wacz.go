package warc

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

const (
	// maxDescription is the maximum size of datapackage.json, in bytes.
	maxDescription = 8 << 20

	// maxResources is the maximum number of entries in datapackage.json.
	maxResources = 50_000
)

// wacz verifies a WACZ file. It checks all parts against their digests in
// datapackage.json, and verifies the records of the WARC files.
func (v *verifier) wacz(name string) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		p := &waczCheck{verifier: v, name: name, yield: yield}
		z, err := openPackage(name)
		switch at := (*fs.PathError)(nil); {
		case errors.As(err, &at):
			err = fetch.LocalError(err)
		case err != nil:
			err = p.report(0, "%v", err)
		default:
			err = p.verify(z)
			z.Close()
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Finding{}, err)
		}
	}
}

// errStopped means that the caller stopped the iteration over the findings.
var errStopped = errors.New("iteration stopped")

// A waczCheck verifies one WACZ file.
type waczCheck struct {
	*verifier
	name  string
	yield func(Finding, error) bool

	sizes map[string]int64 // sizes of the WARC files in bytes, keyed by base name
	limit int64            // see indexLines
}

func (p *waczCheck) report(offset int64, format string, args ...any) error {
	return p.yieldFinding(Finding{File: p.name, Offset: offset, Problem: BadPart, Text: fmt.Sprintf(format, args...)})
}

func (p *waczCheck) yieldFinding(f Finding) error {
	if !p.yield(f, nil) {
		return errStopped
	}
	return nil
}

// verify checks all parts of the zip file.
func (p *waczCheck) verify(z packageFile) error {
	p.limit = maxRatio * z.size
	p.sizes = map[string]int64{}
	for _, part := range z.File {
		if name, ok := warcPart(part); ok {
			p.sizes[name] = int64(min(part.UncompressedSize64, 1<<62))
		}
	}
	return p.verifyParts(z.Reader)
}

// warcPart returns the base name of a part that is a WARC file. The result ok
// is false for other parts.
func warcPart(part *zip.File) (name string, ok bool) {
	dir, name := path.Split(part.Name)
	return name, dir == "archive/" && IsFileName(name)
}

func (p *waczCheck) verifyParts(z *zip.Reader) error {
	listed, err := resources(z)
	if err != nil {
		if err := p.report(0, "%v", err); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for _, part := range z.File {
		if seen[part.Name] {
			if err := p.report(0, "duplicate part %q", part.Name); err != nil {
				return err
			}
		}
		seen[part.Name] = true
		want, ok := listed[part.Name]
		delete(listed, part.Name)
		if !ok && !strings.HasPrefix(part.Name, "datapackage") {
			text := fmt.Sprintf("part %q is not listed in datapackage.json", part.Name)
			f := Finding{File: p.name, Problem: BadPart, Note: true, Text: text}
			if err := p.yieldFinding(f); err != nil {
				return err
			}
		}
		if text := want.mismatch(part); text != "" {
			at, _ := part.DataOffset()
			if err := p.report(at, "part %q: %s", part.Name, text); err != nil {
				return err
			}
			continue
		}
		if err := p.verifyContent(part); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if err := p.report(0, "missing part %q", name); err != nil {
			return err
		}
	}
	return nil
}

// verifyContent verifies the records of a WARC file, or the lines of an index.
func (p *waczCheck) verifyContent(part *zip.File) error {
	if _, ok := warcPart(part); ok {
		return p.verifyArchive(part)
	}
	if isIndex(part.Name) {
		return p.verifyIndex(part)
	}
	return nil
}

func (p *waczCheck) verifyArchive(part *zip.File) error {
	r, err := part.Open()
	if err != nil {
		return p.report(0, "part %q: %v", part.Name, err)
	}
	defer r.Close()
	for f, err := range p.file(p.name+"/"+part.Name, r) {
		switch at := (*fs.PathError)(nil); {
		case errors.As(err, &at):
			return err
		case err != nil: // an error of the zip format or its compression
			return p.report(0, "part %q: %v", part.Name, err)
		}
		if err := p.yieldFinding(f); err != nil {
			return err
		}
	}
	return nil
}

// resources returns the entries in datapackage.json, with their paths as keys.
func resources(z *zip.Reader) (map[string]fileJSON, error) {
	listed := map[string]fileJSON{}
	text, err := description(z, "datapackage.json")
	if err != nil {
		return listed, err
	}
	var d struct{ Resources json.RawMessage }
	if err = json.Unmarshal(text, &d); err == nil {
		err = addResources(listed, d.Resources)
	}
	if err != nil {
		return listed, fmt.Errorf("datapackage.json: %w", err)
	}
	sum, err := description(z, "datapackage-digest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return listed, nil // datapackage-digest.json is optional
	}
	var listing fileJSON
	if err == nil {
		err = json.Unmarshal(sum, &listing)
	}
	digest := sha256.Sum256(text)
	if err == nil && strings.TrimPrefix(listing.Hash, "sha256:") != hex.EncodeToString(digest[:]) {
		err = errors.New("datapackage.json does not match its digest")
	}
	return listed, err
}

// addResources adds the entries in text, a JSON array, to listed. It decodes one
// entry at a time, because a small file can have millions of empty ones.
func addResources(listed map[string]fileJSON, text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); len(text) == 0 || t == nil {
		return nil // there is no list, or it is null
	} else if err != nil || t != json.Delim('[') {
		return cmp.Or(err, errors.New("resources is not an array"))
	}
	for n := 0; d.More(); n++ {
		var r resourceJSON
		if n == maxResources {
			return fmt.Errorf("more than %d resources", maxResources)
		}
		if err := d.Decode(&r); err != nil {
			return err
		}
		listed[r.Path] = r.file()
	}
	return nil
}

// resourceJSON is an entry of datapackage.json in any version that the function
// resources reads.
type resourceJSON struct {
	Path  string
	Hash  string
	Bytes *int64

	// Old versions of py-wacz store the size and the digest in these fields.
	Hashing string // algorithm, if Hash has no label
	Stats   struct {
		Hash  string
		Bytes *int64
	}
}

// file converts an entry of any version of the WACZ format to the current one.
// Bytes is -1 if the entry has no size.
func (r resourceJSON) file() fileJSON {
	f := fileJSON{Path: r.Path, Hash: cmp.Or(r.Hash, r.Stats.Hash), Bytes: -1}
	if f.Hash != "" && !strings.Contains(f.Hash, ":") {
		f.Hash = cmp.Or(r.Hashing, "sha256") + ":" + f.Hash
	}
	if size := cmp.Or(r.Bytes, r.Stats.Bytes); size != nil && *size >= 0 {
		f.Bytes = *size
	}
	return f
}

func description(z *zip.Reader, name string) ([]byte, error) {
	at := slices.IndexFunc(z.File, func(part *zip.File) bool { return part.Name == name })
	if at < 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f, err := z.File[at].Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDescription+1))
	if err == nil && len(text) > maxDescription {
		err = fmt.Errorf("%s is larger than %d bytes", name, maxDescription)
	}
	return text, err
}

// mismatch compares the size and digest of part with the entry r. It returns a
// description of the difference, or "" if they match or r is zero. It reads at
// most one byte more than the size in r, or than the size in the zip file if r
// has no size.
func (r fileJSON) mismatch(part *zip.File) string {
	if r.Path == "" {
		return ""
	}
	in, err := part.Open()
	if err != nil {
		return err.Error()
	}
	defer in.Close()
	size := r.Bytes
	if size < 0 {
		size = int64(min(part.UncompressedSize64, 1<<62))
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(in, size+1))
	algorithm, hash, _ := strings.Cut(r.Hash, ":")
	switch {
	case err != nil:
		return err.Error()
	case n != size:
		return fmt.Sprintf("the size differs from the listed %d bytes", size)
	case algorithm != "sha256":
		return "" // the zip package has verified the CRC-32 checksum
	case hash != hex.EncodeToString(sum.Sum(nil)):
		return "the digest does not match"
	}
	return ""
}
