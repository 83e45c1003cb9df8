// Package sink has the destinations of bodies: files, streams and terminals.
package sink

import (
	"crypto/sha256"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/parallel"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/wire/splice"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/verify"
)

// A Sink is the destination of a body: a file or a stream. A file gets its
// final name only when it is complete. Most methods have the same contract as
// in save.File.
type Sink interface {
	Write(p []byte) (int, error)
	Name() string
	State() save.State        // describes the bytes that an earlier attempt has written
	Restarts() bool           // reports whether Begin may be called again
	Begin(s save.State) error // prepares the sink for a new body
	SetTime(t time.Time)
	Sum() []byte // returns the SHA-256 digest of all bytes, or nil if unknown
	Commit() error
	VerifyRest(s save.State, digest string) error
	DiscardMismatch(err error) error
	Close() error

	Terminal() bool // reports whether the sink is a terminal
}

// A fileSink is a sink that writes to a file.
type fileSink struct{ *save.File }

// File returns a sink that writes to f.
func File(f *save.File) Sink { return fileSink{f} }

func (f fileSink) Terminal() bool { return false }

// A headerNamedFile is an output file with a name that the server sends (-J).
// It is created when the response arrives. If the server sends a name, an
// existing file is never replaced.
type headerNamedFile struct {
	proposedName func() string // returns a safe name, or ""
	name         string        // file name from the URL
	options      save.Options
	file         *save.File // nil until the response arrives
}

// HeaderNamedFile returns a sink that writes to a file with the name that
// proposedName returns. It calls proposedName when the response has arrived. If
// proposedName returns "", the file has the given name.
func HeaderNamedFile(name string, o save.Options, proposedName func() string) Sink {
	return &headerNamedFile{proposedName: proposedName, name: name, options: o}
}

func (f *headerNamedFile) Begin(s save.State) error {
	if f.file == nil {
		if proposed := f.proposedName(); proposed != "" {
			f.name = filepath.Join(filepath.Dir(f.name), proposed)
			f.options.Existing = save.Refuse
		}
		file, err := save.Create(f.name, f.options)
		if err != nil {
			return err
		}
		f.file = file
	}
	return f.file.Begin(s)
}

func (f *headerNamedFile) Write(p []byte) (int, error) {
	if f.file == nil {
		return 0, fetch.Internal.Errorf("write to %s before the response", f.name)
	}
	return f.file.Write(p)
}

func (f *headerNamedFile) Name() string {
	if f.file != nil {
		return f.file.Name()
	}
	return f.name
}

func (f *headerNamedFile) State() save.State {
	if f.file != nil {
		return f.file.State()
	}
	return save.State{Size: -1}
}

func (f *headerNamedFile) SetTime(t time.Time) {
	if f.file != nil {
		f.file.SetTime(t)
	}
}

func (f *headerNamedFile) Sum() []byte {
	if f.file == nil {
		return nil
	}
	return f.file.Sum()
}

func (f *headerNamedFile) Commit() error { return f.ifCreated((*save.File).Commit) }
func (f *headerNamedFile) Close() error  { return f.ifCreated((*save.File).Close) }

func (f *headerNamedFile) ifCreated(do func(*save.File) error) error {
	if f.file == nil {
		return nil
	}
	return do(f.file)
}

func (f *headerNamedFile) VerifyRest(s save.State, digest string) error {
	return f.file.VerifyRest(s, digest)
}
func (f *headerNamedFile) DiscardMismatch(err error) error { return f.file.DiscardMismatch(err) }

func (*headerNamedFile) Restarts() bool { return true }
func (*headerNamedFile) Terminal() bool { return false }

// StandardOutput is the name that every stream returns. It is not a file name.
const StandardOutput = "standard output"

// A stream is a sink that writes to standard output or to a terminal. Bytes
// that have been written cannot be replaced.
type stream struct {
	w      io.Writer
	screen *tty.Writer // escapes control characters; nil if w is not a terminal
	file   *os.File    // the terminal w if Close must close it, or nil
	have   save.State
	sent   bool
	digest hash.Hash // digest of the written bytes, or nil
	checks []verify.Check
}

// Stream returns a sink for a body that starts at the given offset. If sum is
// true, the sink computes a SHA-256 digest. Commit carries out the checks.
func Stream(w io.Writer, offset int64, sum bool, checks []verify.Check) Sink {
	return newStream(w, offset, sum, checks)
}

// Terminal opens the terminal with the given file name, such as /dev/tty. It
// returns nil if the file is not a terminal. The other arguments have the same
// meaning as in [Stream].
func Terminal(name string, offset int64, sum bool, checks []verify.Check) Sink {
	t := terminal.Open(name)
	if t == nil {
		return nil
	}
	s := newStream(t, offset, sum, checks)
	s.file = t
	return s
}

func newStream(w io.Writer, offset int64, sum bool, checks []verify.Check) *stream {
	s := &stream{w: w, have: save.State{Offset: offset}, checks: checks}
	if terminal.Is(w) {
		s.screen = tty.NewWriter(w)
	}
	if sum {
		s.digest = sha256.New()
	}
	return s
}

func (s *stream) Name() string      { return StandardOutput }
func (s *stream) State() save.State { return s.have }
func (s *stream) SetTime(time.Time) {}
func (s *stream) Restarts() bool    { return !s.sent && s.have.Offset == 0 }
func (s *stream) Terminal() bool    { return s.screen != nil }

func (s *stream) Write(p []byte) (int, error) {
	s.sent = s.sent || len(p) > 0
	if s.digest != nil {
		s.digest.Write(p)
	}
	parallel.Write(p, s.checks)
	if s.screen != nil {
		return s.screen.Write(p)
	}
	return s.w.Write(p)
}

// CanWritePipe implements splice.Target. It returns false for terminals, if a
// digest is computed, and if several jobs write to standard output.
func (s *stream) CanWritePipe() bool {
	_, ok := s.w.(*os.File)
	return ok && s.screen == nil && s.digest == nil && len(s.checks) == 0
}

// WritePipe implements splice.Target.
func (s *stream) WritePipe(p *splice.Pipe, n int) (int, error) {
	s.sent = true
	return p.Drain(s.w.(*os.File), n)
}

// Commit verifies the bytes, which have been written already.
func (s *stream) Commit() error {
	if err := s.Close(); err != nil || len(s.checks) == 0 {
		return err
	}
	if s.have.Offset > 0 {
		return fetch.Unsupported.Errorf("a part of the object cannot be verified")
	}
	for _, c := range s.checks {
		if err := c.Verify(); err != nil {
			return err
		}
	}
	return nil
}

// The digest that the server announced for the complete object is not compared
// with a part.
func (s *stream) VerifyRest(save.State, string) error { return nil }
func (s *stream) DiscardMismatch(err error) error     { return err }

func (s *stream) Close() error {
	if s.screen == nil {
		return nil
	}
	err := console.LocalError(s.screen.Flush())
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
	return err
}

func (s *stream) Sum() []byte {
	if s.digest == nil || s.have.Offset > 0 {
		return nil
	}
	return s.digest.Sum(nil)
}

func (s *stream) Begin(of save.State) error {
	s.have.Size = of.Size
	return nil
}
