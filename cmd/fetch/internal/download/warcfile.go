package download

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/objectflags"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/record"
	"github.com/anyurl/fetch/warc/zst"
)

// A warcFile is the file that --warc-file names. It records the exchanges of all
// jobs.
type warcFile struct {
	dir      *os.Root // directory of the file
	name     string
	lock     save.Handle // prevents two processes from writing the file
	writer   *warc.Writer
	recorder *record.Recorder
}

// openWARCFile opens the file that --warc-file names. It returns nil if the flag
// is not set.
func openWARCFile(f *objectflags.Flags) (_ *warcFile, err error) {
	name := f.Body.WARCFile
	if name == "" {
		return nil, nil
	}
	switch {
	case !arguments.IsNewWARC(name):
		return nil, fetch.Usage.Errorf("--warc-file requires a name that ends in .warc, .warc.gz or .warc.zst, such as %q", name+".warc.gz")
	case len(f.Client.Replay.Archives) > 0:
		return nil, fetch.Usage.Errorf("--warc-file and --archive exclude each other, because nothing is requested")
	case f.Request.Head, f.Request.ByteRange != "", f.Body.ContinueAt != "", f.Request.Segments > 1:
		return nil, fetch.Usage.Errorf("--warc-file records complete objects, so it excludes -I, -r, -C and --segments")
	}
	w := &warcFile{name: filepath.Base(name)}
	if w.dir, err = os.OpenRoot(filepath.Dir(name)); err != nil {
		return nil, console.LocalError(err)
	}
	o := warc.Options{Name: w.name}
	o.Info = fetch.Header{{Name: "software", Value: console.Product()}}
	host, _ := os.Hostname()
	agent, err := f.Client.HTTP.Agent()
	for _, field := range []fetch.Field{{Name: "hostname", Value: host}, {Name: "http-header-user-agent", Value: agent}} {
		if field.Value != "" {
			o.Info = append(o.Info, field)
		}
	}
	if err == nil && strings.HasSuffix(name, ".zst") {
		o.Zstd, err = zst.New()
	}
	if err == nil {
		w.writer, err = warc.NewWriter(w.dir, o)
	}
	if err == nil {
		w.lock, err = save.OpenLock(name + warc.OpenSuffix)
	}
	if err != nil {
		w.dir.Close()
		return nil, err
	}
	w.recorder = record.New(w.writer, record.Options{TempDir: filepath.Dir(name)})
	return w, nil
}

// close completes the file. If a record could not be written, or if there are no
// records, the file does not get its final name. close does nothing if w is nil.
func (w *warcFile) close() error {
	if w == nil {
		return nil
	}
	err := w.recorder.Err()
	if err != nil {
		err = errors.Join(err, w.writer.Abandon())
	} else if err = w.writer.Close(); err == nil {
		if err = w.dir.Remove(w.name + warc.OpenSuffix); errors.Is(err, fs.ErrNotExist) { // the file has its final name
			err = nil
		}
	}
	return console.LocalError(errors.Join(err, w.lock.Close(), w.dir.Close()))
}

// preventResume changes req so that no middleware resumes the response or
// requests it in parts, because a record contains a complete response. It does
// nothing if w is nil.
func (w *warcFile) preventResume(req *fetch.Request) {
	if w == nil || req.Trace != nil && req.Trace.Restart != nil {
		return
	}
	var t trace.Trace
	if req.Trace != nil {
		t = *req.Trace
	}
	t.Restart = func() {}
	req.Trace = &t
}
