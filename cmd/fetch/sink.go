package main

import (
	"crypto/sha256"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
	"github.com/anyurl/fetch/save"
)

// A sink is where a body goes: a file that appears when it is whole, or a
// stream in which nothing can be undone. Its methods are those of save.File.
type sink interface {
	Write(p []byte) (int, error)
	Name() string
	State() save.State        // what it holds already
	Restarts() bool           // whether Begin may be called again
	Begin(s save.State) error // a body, or the rest of one, is about to come
	SetTime(t time.Time)
	Sum() []byte // SHA-256 of all it holds; nil: not kept
	Commit() error
	Abort() error // Close, and nothing is left for a later attempt
	Close() error

	Terminal() bool
}

// sink opens where the body of req goes, before anything is sent.
func (j *job) sink(req *fetch.Request) (sink, error) {
	f := &j.flags
	offset, auto, err := f.resume()
	if err != nil {
		return nil, err
	}
	name, err := j.fileName(req)
	if err != nil {
		return nil, err
	}
	if name == "" {
		if auto {
			return nil, fetch.Usage.Errorf("-C - continues a file: name it with -o or -O")
		}
		return f.stream(j.stdout, offset), nil
	}
	if t := openTerminal(name); t != nil {
		s := f.stream(t, offset)
		s.file = t
		return s, nil
	}
	if f.createDirs {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, fetch.Local.With(err)
		}
	}
	if f.remoteName || f.outputDir != "" {
		j.opened.Do(func() { j.folder, _ = save.OpenFolder(f.outputDir) })
	}
	o := save.Options{
		URL: req.URL.Unredacted(), Weak: j.client.Scheme(req.URL.Scheme()).Traits.WeakValidators,
		Resume: auto, Offset: offset, Strict: f.strict, Sum: f.sums(), Folder: j.folder,
	}
	switch {
	case f.skipExisting:
		o.Existing = save.Refuse
	case f.noClobber:
		o.Existing = save.Number
	}
	if f.remoteHeaderName && f.remoteName {
		if auto || offset > 0 {
			return nil, fetch.Usage.Errorf("-C and -J exclude each other: the name comes too late")
		}
		return &late{j: j, name: name, o: o}, nil
	}
	file, err := save.Create(name, o)
	if err != nil {
		return nil, err
	}
	return fileSink{file}, nil
}

// stream returns the sink for w.
func (f *flags) stream(w io.Writer, offset int64) *stream {
	s := &stream{w: w, have: save.State{Offset: offset}}
	if terminal(w) {
		s.screen = tty.NewWriter(w)
	}
	if f.sums() {
		s.digest = sha256.New()
	}
	return s
}

// fileName is the file for the body, or "" for standard output.
func (j *job) fileName(req *fetch.Request) (string, error) {
	f, index := &j.flags, j.index
	if f.toStdout(index) {
		return "", nil
	}
	var name string
	if index < len(f.output) {
		if name = f.output[index]; name == "" {
			return "", fetch.Usage.Errorf("-o wants a file name")
		}
	} else {
		var err error
		if name, err = save.Name(req.URL.Path()); err != nil {
			return "", err
		}
	}
	if f.outputDir != "" && !strings.HasPrefix(name, "/") {
		name = filepath.Join(f.outputDir, name)
	}
	return name, nil
}

// fileSink is a file.
type fileSink struct{ *save.File }

func (f fileSink) Terminal() bool { return false }

// stream is standard output: what it has taken is gone, and on a terminal
// nothing of it acts.
type stream struct {
	w      io.Writer
	screen *tty.Writer // nil: w is no terminal
	file   *os.File    // w, if it is to be closed
	have   save.State
	sent   bool

	digest hash.Hash // nil: nobody asked
}

const standardOutput = "standard output"

func (s *stream) Name() string      { return standardOutput }
func (s *stream) State() save.State { return s.have }
func (s *stream) SetTime(time.Time) {}
func (s *stream) Commit() error     { return s.Close() }
func (s *stream) Abort() error      { return s.Close() }
func (s *stream) Restarts() bool    { return !s.sent && s.have.Offset == 0 }
func (s *stream) Terminal() bool    { return s.screen != nil }

func (s *stream) Write(p []byte) (int, error) {
	s.sent = s.sent || len(p) > 0
	if s.digest != nil {
		s.digest.Write(p)
	}
	if s.screen != nil {
		return s.screen.Write(p)
	}
	return s.w.Write(p)
}

func (s *stream) Close() error {
	if s.screen == nil {
		return nil
	}
	err := local(s.screen.Flush())
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
