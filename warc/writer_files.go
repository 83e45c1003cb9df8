package warc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// software is the default name of the program in warcinfo records and WACZ
// files.
const software = "fetch (github.com/anyurl/fetch)"

// OpenSuffix ends the name of a file that a Writer has not finished yet.
const OpenSuffix = ".open"

// openFile creates a new file if no file is open or the current file has
// reached the maximum size.
func (w *Writer) openFile() error {
	if w.rollbackErr != nil {
		return w.rollbackErr
	}
	if w.file != nil && w.size >= w.opts.MaxSize {
		if err := w.finish(); err != nil {
			return err
		}
	}
	if w.file == nil {
		return w.createFile()
	}
	return nil
}

// createFile creates the next file and writes its warcinfo record.
func (w *Writer) createFile() error {
	f, err := w.createUnique()
	if err != nil {
		return fetch.LocalError(err)
	}
	w.file, w.size = f, 0
	w.out.Reset(f)
	if err = w.writeInfo(); err == nil {
		err = w.folder.Sync()
	}
	if err != nil {
		w.file, w.rollbackErr = nil, nil
		f.Close()
		w.folder.Remove(w.name + OpenSuffix)
		return fetch.LocalError(err)
	}
	w.firstGroup = w.size
	return nil
}

// createUnique creates an empty file with the name in the options, or with a
// name that is not in use.
func (w *Writer) createUnique() (file, error) {
	if w.name = w.opts.Name; w.name != "" {
		return w.folder.OpenFile(w.name+OpenSuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	}
	extension := ".warc.gz"
	if w.opts.Uncompressed {
		extension = ".warc"
	}
	stamp := w.opts.Now().UTC().Format("20060102150405")
	for ; w.serial < 1<<30; w.serial++ {
		name := fmt.Sprintf("%s-%s-%05d-%s%s", w.opts.Prefix, stamp, w.serial, w.opts.Worker, extension)
		if _, err := w.folder.Lstat(name); err == nil {
			continue
		}
		f, err := w.folder.OpenFile(name+OpenSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		w.name = name
		w.serial++
		return f, err
	}
	return nil, fetch.Exists.Errorf("all serial numbers for file names are used")
}

// writeInfo writes the warcinfo record (WARC 1.1 section 6.2).
func (w *Writer) writeInfo() error {
	fields := fetch.Header{
		{Name: "software", Value: software},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "conformsTo", Value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
	}
	for i, f := range fields {
		fields[i].Value = cmp.Or(w.opts.Info.Get(f.Name), f.Value)
	}
	more := w.opts.Info.Without(func(name string) bool { return fields.Get(name) != "" })
	var b []byte
	for _, f := range append(fields, more...) {
		b = appendField(b, f.Name, f.Value)
	}
	r := &Record{Type: Info, Media: FieldsMedia, Body: bytes.NewReader(b)}
	r.Fields = fetch.Header{{Name: "WARC-Filename", Value: w.name}}
	w.info = ""
	group := w.setDefaults([]*Record{r})
	if _, err := w.appendGroup(group); err != nil {
		return err
	}
	w.info = group[0].ID
	return nil
}

// finish closes the current file and removes the suffix OpenSuffix from its
// name.
func (w *Writer) finish() error {
	if w.file == nil {
		return nil
	}
	if err := w.file.Sync(); err != nil {
		return fetch.LocalError(err)
	}
	err := w.file.Close()
	w.file = nil
	switch {
	case err != nil:
	case w.rollbackErr != nil: // Resume can remove the incomplete group
		err, w.rollbackErr = w.rollbackErr, nil
		return err
	case w.size == w.firstGroup:
		err = w.folder.Remove(w.name + OpenSuffix)
	default:
		err = w.folder.Rename(w.name+OpenSuffix, w.name)
	}
	if err == nil {
		err = w.folder.Sync()
	}
	return fetch.LocalError(err)
}

// Resume continues a file of an earlier Writer at the offset end and removes
// all later bytes. The offset is usually [Position.End] of the last record that
// the caller committed. If end is 0, Resume removes the file.
//
// If the file was finished and ends at this offset, Resume leaves the file
// unchanged, and Write starts a new file. If the finished file is longer,
// Resume makes it the current file again.
//
// If the file is shorter than end, Resume leaves the file unchanged and returns
// an error that wraps fetch.Mismatch. If another file is open, Resume first
// finishes that file.
func (w *Writer) Resume(name string, end int64) error {
	name = strings.TrimSuffix(name, OpenSuffix)
	w.mu.Lock()
	defer w.mu.Unlock()
	closeCurrent := w.finish
	if name == w.name {
		closeCurrent = w.abandon
	}
	if err := closeCurrent(); err != nil {
		return err
	}
	path, finished := name+OpenSuffix, false
	info, err := w.folder.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		path, finished = name, true
		info, err = w.folder.Lstat(path)
	}
	switch {
	case end == 0 && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fetch.LocalError(err)
	case info.Size() < end:
		return fetch.Mismatch.Errorf("%s has %d bytes, but %d bytes were committed", path, info.Size(), end)
	case end == 0:
		return fetch.LocalError(errors.Join(w.folder.Remove(path), w.folder.Sync()))
	case finished && info.Size() == end:
		return nil
	case finished:
		if err := w.folder.Rename(name, name+OpenSuffix); err != nil {
			return fetch.LocalError(err)
		}
	}
	return fetch.LocalError(w.reopen(name, end))
}

// reopen truncates an unfinished file at the offset end and makes it the
// current file.
func (w *Writer) reopen(name string, end int64) error {
	f, err := w.folder.OpenFile(name+OpenSuffix, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	first, err := NewReader(f).Next()
	if err != nil || first.Type() != Info {
		err = fetch.Mismatch.Errorf("%s does not start with a warcinfo record", name)
	}
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err == nil {
		err = w.folder.Sync()
	}
	if err != nil {
		f.Close()
		return err
	}
	w.file, w.name, w.info, w.size, w.firstGroup = f, name, first.ID(), end, 0
	w.serial = max(w.serial, serialOf(name)+1)
	w.out.Reset(f)
	return nil
}

// serialOf returns the serial number in the name of a WARC file, or 0 if there
// is no serial number.
func serialOf(name string) int {
	part := strings.Split(name, "-")
	for i := len(part) - 1; i > 0; i-- {
		n, err := strconv.Atoi(part[i])
		if err == nil && len(part[i]) >= 5 && len(part[i-1]) == 14 {
			return n
		}
	}
	return 0
}

// safeName replaces characters that are not allowed in Options.Prefix and
// Options.Worker.
func safeName(s string) string {
	safe := strings.Map(func(r rune) rune {
		if r < 0x80 && uri.Unreserved.Has(byte(r)) {
			return r
		}
		return '_'
	}, s)
	return strings.TrimLeft(safe, ".-")
}
