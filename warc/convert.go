package warc

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tempdir"
)

// packConverted packs an archive after it has converted the files that a WACZ
// file cannot contain.
func (a *Archive) packConverted(w io.Writer, p Package, names []string) error {
	dir, err := tempdir.Create(os.TempDir(), "fetch-pack-")
	if err != nil {
		return fetch.LocalError(err)
	}
	defer dir.Remove()
	converted, err := open(func(o *opener) error { return o.addConverted(a, dir.Path(), names) })
	if err != nil {
		return err
	}
	defer converted.Close()
	return converted.Pack(w, p)
}

// addConverted adds the files of a with the given names. It converts files with
// zstd frames and ARC files to WARC files in dir.
func (o *opener) addConverted(a *Archive, dir string, names []string) error {
	for i, name := range names {
		where := a.sections[name]
		if isPackable(name) {
			if err := errors.Join(o.addSection(name, where), o.index(name)); err != nil {
				return err
			}
			continue
		}
		stem := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".arc")
		dir := filepath.Join(dir, strconv.Itoa(i)) // converted files can have equal names
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fetch.LocalError(err)
		}
		path := filepath.Join(dir, strings.TrimSuffix(stem, ".warc.zst")+".warc.gz")
		if err := where.convert(path); err != nil {
			return err
		}
		if err := o.addFile(path); err != nil {
			return err
		}
	}
	return o.storeIndex()
}

// convert writes the records of the section to a WARC file at path, each in a
// gzip member. It skips damaged records.
func (s section) convert(path string) (err error) {
	in, err := s.stream()
	if err != nil {
		return err
	}
	defer in.Close()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fetch.LocalError(err)
	}
	defer func() { err = errors.Join(err, fetch.LocalError(f.Close())) }()
	out := bufio.NewWriterSize(f, bufferSize)
	if err := convert(out, NewReader(in)); err != nil {
		return err
	}
	return fetch.LocalError(out.Flush())
}

// convert writes the records of r to w.
func convert(w io.Writer, r *Reader) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	for {
		h, err := r.Next()
		var damage *Error
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &damage):
			continue
		case err != nil:
			return err
		}
		z.Reset(w)
		if _, err := z.Write(h.appendTo(nil)); err != nil {
			return fetch.LocalError(err)
		}
		if _, err := io.Copy(z, r); err != nil && !errors.As(err, &damage) {
			return fetch.LocalError(err)
		}
		if _, err := io.WriteString(z, recordEnd); err != nil {
			return fetch.LocalError(err)
		}
		if err := z.Close(); err != nil {
			return fetch.LocalError(err)
		}
	}
}

// appendTo appends the header of a WARC record with the fields of h. A record of
// an ARC file gets an ID.
func (h *Header) appendTo(b []byte) []byte {
	version := h.Version
	if h.arc {
		version = "1.1"
	}
	b = append(append(append(b, magic...), version...), "\r\n"...)
	if h.arc {
		b = appendID(b, "WARC-Record-ID", newID())
		if h.Get("WARC-Date") == "" {
			b = appendField(b, "WARC-Date", "0001-01-01T00:00:00Z")
		}
	}
	for _, f := range h.Fields {
		b = appendField(b, f.Name, f.Value)
	}
	return append(b, "\r\n"...)
}
