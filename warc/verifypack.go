package warc

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// maxDescription bounds datapackage.json, in bytes.
const maxDescription = 16 << 20

// Package reads a WACZ file, which is named by its path, to its last part: each
// by the digest that was given of it, and the archives among them as File does.
func (v *Verifier) Package(name string) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		p := &unpacker{v, name, yield}
		z, err := zip.OpenReader(name)
		switch at := (*fs.PathError)(nil); {
		case errors.As(err, &at):
			err = local(err)
		case err != nil:
			err = p.say(0, "no WACZ file: %v", err)
		default:
			err = p.whole(&z.Reader)
			z.Close()
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(Finding{}, err)
		}
	}
}

// errEnough: whoever reads the findings wants no more.
var errEnough = errors.New("enough")

// unpacker verifies one WACZ file.
type unpacker struct {
	*Verifier
	name  string
	yield func(Finding, error) bool
}

func (p *unpacker) say(offset int64, format string, args ...any) error {
	return p.tell(Finding{File: p.name, Offset: offset, What: BadPart, Text: fmt.Sprintf(format, args...)})
}

func (p *unpacker) tell(f Finding) error {
	if !p.yield(f, nil) {
		return errEnough
	}
	return nil
}

// whole verifies all parts, unless they overlap.
func (p *unpacker) whole(z *zip.Reader) error {
	info, err := os.Stat(p.name)
	if err != nil {
		return local(err)
	}
	if err := separate(z.File, info.Size()); err != nil {
		return p.say(0, "%v", err)
	}
	return p.parts(z)
}

func (p *unpacker) parts(z *zip.Reader) error {
	listed, err := resources(z)
	if err != nil {
		if err := p.say(0, "%v", err); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for _, part := range z.File {
		if seen[part.Name] {
			if err := p.say(0, "%q is there twice", part.Name); err != nil {
				return err
			}
		}
		seen[part.Name] = true
		want, ok := listed[part.Name]
		delete(listed, part.Name)
		if !ok && !strings.HasPrefix(part.Name, "datapackage") {
			f := Finding{File: p.name, What: BadPart, Note: true, Text: fmt.Sprintf("%q: no digest of it is given", part.Name)}
			if err := p.tell(f); err != nil {
				return err
			}
		}
		if text := want.differs(part); text != "" {
			at, _ := part.DataOffset()
			if err := p.say(at, "%q: %s", part.Name, text); err != nil {
				return err
			}
			continue
		}
		if dir, name := path.Split(part.Name); dir == "archive/" && Is(name) {
			if err := p.archive(part); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if err := p.say(0, "%q is missing", name); err != nil {
			return err
		}
	}
	return nil
}

func (p *unpacker) archive(part *zip.File) error {
	r, err := part.Open()
	if err != nil {
		return p.say(0, "%q: %v", part.Name, err)
	}
	defer r.Close()
	for f, err := range p.File(p.name+"/"+part.Name, r) {
		switch at := (*fs.PathError)(nil); {
		case errors.As(err, &at):
			return err
		case err != nil: // of the zip file, or of what it is packed with
			return p.say(0, "%q: %v", part.Name, err)
		}
		if err := p.tell(f); err != nil {
			return err
		}
	}
	return nil
}

// resources reads what datapackage.json says of the parts of z.
func resources(z *zip.Reader) (map[string]fileJSON, error) {
	listed := map[string]fileJSON{}
	text, err := description(z, "datapackage.json")
	if err != nil {
		return listed, err
	}
	var d packageJSON
	if err := json.Unmarshal(text, &d); err != nil {
		return listed, fmt.Errorf("datapackage.json: %w", err)
	}
	for _, r := range d.Resources {
		listed[r.Path] = r
	}
	sum, err := description(z, "datapackage-digest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return listed, nil // it need not be there
	}
	var of fileJSON
	if err == nil {
		err = json.Unmarshal(sum, &of)
	}
	digest := sha256.Sum256(text)
	if err == nil && of.Hash != "sha256:"+hex.EncodeToString(digest[:]) {
		err = errors.New("datapackage.json is not what was digested")
	}
	return listed, err
}

func description(z *zip.Reader, name string) ([]byte, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDescription+1))
	if err == nil && len(text) > maxDescription {
		err = fmt.Errorf("%s has more than %d bytes", name, maxDescription)
	}
	return text, err
}

// differs tells why part is not r; "" where it is, or where r is nothing. It reads
// no more than r has.
func (r fileJSON) differs(part *zip.File) string {
	if r.Path == "" {
		return ""
	}
	in, err := part.Open()
	if err != nil {
		return err.Error()
	}
	defer in.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(in, r.Bytes+1))
	algorithm, hash, _ := strings.Cut(r.Hash, ":")
	switch {
	case err != nil:
		return err.Error()
	case n != r.Bytes:
		return fmt.Sprintf("it has not the %d bytes that were packed", r.Bytes)
	case algorithm != "sha256":
		return "" // as the zip file has its own sum of each part
	case hash != hex.EncodeToString(sum.Sum(nil)):
		return "it is not what was digested"
	}
	return ""
}
