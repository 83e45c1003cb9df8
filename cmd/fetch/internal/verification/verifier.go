package verification

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/verify"
	"github.com/anyurl/fetch/verify/blake"
	"github.com/anyurl/fetch/verify/signature"
)

// A Source retrieves the object at a URL that the user entered.
type Source func(ctx context.Context, text string) (*fetch.Response, error)

// A Verifier returns the checks of downloads. It retrieves each file that a flag
// names once, when the first download starts. It is safe for concurrent use.
type Verifier struct {
	flags  *Flags
	source Source
	note   func(format string, args ...any)

	mu     sync.Mutex
	loaded bool
	err    error // error of load
	keys   signature.Keyring
	sums   []*verify.Sums
	signed []signedText // signatures of the download; empty if there is a --checksum-file
}

// A signedText is the content of a file with a signature.
type signedText struct {
	name string
	text []byte
}

// Open returns a Verifier for the flags. The function note prints a note for the
// user.
func (f *Flags) Open(source Source, note func(format string, args ...any)) *Verifier {
	return &Verifier{flags: f, source: source, note: note}
}

// Checks returns the checks of the object at u. It is an error if a
// --checksum-file has no digest for the last part of the URL path.
func (v *Verifier) Checks(ctx context.Context, u uri.URI) (checks []verify.Check, err error) {
	if !v.flags.IsSet() {
		return nil, nil
	}
	if err := v.load(ctx); err != nil {
		return nil, err
	}
	for _, d := range v.flags.digests {
		checks = append(checks, d.Check("--checksum"))
	}
	for _, s := range v.sums {
		name, err := uri.Unescape(path.Base(u.Path()))
		if err != nil {
			return nil, fetch.BadURL.With(err)
		}
		found, err := s.Checks(name)
		if err != nil {
			return nil, err
		}
		checks = append(checks, found...)
	}
	for _, s := range v.signed {
		c, err := v.keys.Check(s.text, s.name)
		if err != nil {
			return nil, err
		}
		checks = append(checks, c)
	}
	return checks, nil
}

// load reads the keys, the signatures and the files with digests. A failed
// attempt is not repeated, unless it was canceled.
func (v *Verifier) load(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.loaded {
		return v.err
	}
	v.err = v.loadAll(ctx)
	v.loaded = ctx.Err() == nil
	return v.err
}

func (v *Verifier) loadAll(ctx context.Context) error {
	for _, name := range v.flags.keyrings {
		text, err := readFile(name, signature.MaxKeys)
		if err == nil {
			err = v.keys.Add(text, name)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range v.flags.signature {
		text, err := v.read(ctx, name, signature.MaxSignature)
		if err != nil {
			return err
		}
		v.signed = append(v.signed, signedText{name, text})
	}
	for _, name := range v.flags.sums {
		if err := v.loadSums(ctx, name); err != nil {
			return err
		}
	}
	if len(v.flags.sums) > 0 {
		v.signed = nil // they are signatures of the file with digests
	}
	return nil
}

// loadSums reads a file with digests and verifies its signature.
func (v *Verifier) loadSums(ctx context.Context, name string) error {
	text, err := v.read(ctx, name, verify.MaxSums)
	if err != nil {
		return err
	}
	if len(v.flags.keyrings) > 0 {
		if text, err = v.verifySums(text, name); err != nil {
			return err
		}
	}
	s, err := verify.ParseSums(text, name, blake.Algorithms()...)
	if err == nil {
		v.sums = append(v.sums, s)
	}
	return err
}

// verifySums verifies the signatures of a file with digests. It returns the
// signed text.
func (v *Verifier) verifySums(text []byte, name string) ([]byte, error) {
	if len(v.signed) == 0 {
		text, by, err := v.keys.Open(text, name)
		if err == nil {
			v.note("%s: %s", name, by)
		}
		return text, err
	}
	for _, s := range v.signed {
		c, err := v.keys.Check(s.text, s.name)
		if err != nil {
			return nil, err
		}
		c.Write(text)
		if err := c.Verify(); err != nil {
			return nil, err
		}
		v.note("%s: %s", name, c)
	}
	return text, nil
}

// read reads a file, or the object at a URL. A text with a scheme is a URL,
// unless a file has this name.
func (v *Verifier) read(ctx context.Context, name string, limit int64) ([]byte, error) {
	u, err := fetch.ParseURL(name)
	if _, missing := os.Stat(name); err != nil || missing == nil {
		return readFile(name, limit)
	}
	resp, err := v.source(ctx, u.Unredacted())
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return readLimited(resp.Body, u.String(), limit)
}

func readFile(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fetch.Usage.Errorf("%s is neither a URL nor a file", name)
	}
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	defer f.Close()
	text, err := readLimited(f, name, limit)
	if err != nil && fetch.FaultOf(err) == fetch.Internal {
		err = fetch.Local.With(err)
	}
	return text, err
}

func readLimited(r io.Reader, name string, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fetch.TooLarge.Errorf("%s is longer than %d bytes", name, limit)
	}
	return text, err
}
