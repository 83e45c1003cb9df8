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

// software is what made an archive, where nobody says more.
const software = "fetch (github.com/anyurl/fetch)"

// OpenSuffix ends the name of a file that is being written.
const OpenSuffix = ".open"

// ready has a file open that there is room in.
func (w *Writer) ready() error {
	if w.failed != nil {
		return w.failed
	}
	if w.file != nil && w.size >= w.opts.MaxSize {
		if err := w.finish(); err != nil {
			return err
		}
	}
	if w.file == nil {
		return w.begin()
	}
	return nil
}

// begin creates the next file and writes its warcinfo record.
func (w *Writer) begin() error {
	f, err := w.create()
	if err != nil {
		return local(err)
	}
	w.file, w.size = f, 0
	w.out.Reset(f)
	if err = w.writeInfo(); err == nil {
		err = w.folder.Sync()
	}
	if err != nil {
		w.file, w.failed = nil, nil
		f.Close()
		w.folder.Remove(w.name + OpenSuffix)
		return local(err)
	}
	w.start = w.size
	return nil
}

// create makes a file that no other has the name of, now or once finished.
func (w *Writer) create() (File, error) {
	extension := ".warc.gz"
	if w.opts.Plain {
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
	return nil, fetch.Exists.Errorf("no name is left for another file")
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
	group := w.complete([]*Record{r})
	if _, err := w.append(group); err != nil {
		return err
	}
	w.info = group[0].ID
	return nil
}

// finish gives the file that is open its name.
func (w *Writer) finish() error {
	if w.file == nil {
		return nil
	}
	if err := w.file.Sync(); err != nil {
		return local(err)
	}
	err := w.file.Close()
	w.file = nil
	switch {
	case err != nil:
	case w.failed != nil: // a torn group is in it: Resume cuts that off
		err, w.failed = w.failed, nil
		return err
	case w.size == w.start:
		err = w.folder.Remove(w.name + OpenSuffix)
	default:
		err = w.folder.Rename(w.name+OpenSuffix, w.name)
	}
	if err == nil {
		err = w.folder.Sync()
	}
	return local(err)
}

// Resume goes on with a file that an earlier Writer left, at end: behind the
// last record that the caller counts as written, Place.End. What stands there
// beyond it, whole or torn, is cut off. A file that was finished meanwhile is
// opened again if it holds more than that, and otherwise left as it is, so that
// Write begins another. With end 0 the file is removed.
//
// A file that ends before end has lost records, which is an error of
// fetch.Mismatch; the file is not touched. Where the Writer has another file
// open, that is finished first; the file that it has open can be resumed too,
// to take back what was written.
func (w *Writer) Resume(name string, end int64) error {
	name = strings.TrimSuffix(name, OpenSuffix)
	w.mu.Lock()
	defer w.mu.Unlock()
	leave := w.finish
	if name == w.name {
		leave = w.abandon
	}
	if err := leave(); err != nil {
		return err
	}
	at, finished := name+OpenSuffix, false
	info, err := w.folder.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		at, finished = name, true
		info, err = w.folder.Lstat(at)
	}
	switch {
	case end == 0 && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return local(err)
	case info.Size() < end:
		return fetch.Mismatch.Errorf("%s ends at %d and has lost what was written up to %d", at, info.Size(), end)
	case end == 0:
		return local(errors.Join(w.folder.Remove(at), w.folder.Sync()))
	case finished && info.Size() == end:
		return nil
	case finished:
		if err := w.folder.Rename(name, name+OpenSuffix); err != nil {
			return local(err)
		}
	}
	return local(w.reopen(name, end))
}

// reopen makes name the open file, cut off at end.
func (w *Writer) reopen(name string, end int64) error {
	f, err := w.folder.OpenFile(name+OpenSuffix, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	first, err := NewReader(f).Next()
	if err != nil || first.Type() != Info {
		err = fetch.Mismatch.Errorf("%s begins with no warcinfo record", name)
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
	w.file, w.name, w.info, w.size, w.start = f, name, first.ID(), end, 0
	w.serial = max(w.serial, serialOf(name)+1)
	w.out.Reset(f)
	return nil
}

// serialOf finds the serial number in a file name of a Writer.
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

// safeName replaces what should not stand in a file name.
func safeName(s string) string {
	safe := strings.Map(func(r rune) rune {
		if r < 0x80 && uri.Unreserved.Has(byte(r)) {
			return r
		}
		return '_'
	}, s)
	return strings.TrimLeft(safe, ".-")
}
