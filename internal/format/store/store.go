// Package store stores complete files as objects, in a directory. Package
// mirror/internal/s3 stores them in a bucket of an S3 server.
//
// An object is created once and never replaced. A reader sees either no object
// or the complete object.
package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
)

// A Store stores objects, each of which has a name. A name consists of
// components that are separated by "/". It is relative to the prefix of the
// Store. A Store is safe for concurrent use.
//
// Every error has a [fetch.Fault] in its chain or is an error of the file
// system. [fetch.Retryable] reports whether the operation may succeed later.
// No error contains credentials.
type Store interface {
	// Put creates an object from r, which has the given size in bytes and the
	// given SHA-256 digest. Put never replaces an object. If the object exists with the same
	// bytes, Put succeeds. If it exists with other bytes, the error wraps
	// ErrConflict. If r does not have this size and digest, the error wraps
	// fetch.Mismatch, and no object is created.
	//
	// After Put returns nil, the object is durable. The store has then
	// confirmed a checksum of all bytes, or Put has read the object again.
	Put(ctx context.Context, name string, r io.ReaderAt, size int64, sum [sha256.Size]byte) error

	// Stat returns a description of an object. The error wraps fs.ErrNotExist
	// and fetch.NotFound if there is no such object.
	Stat(ctx context.Context, name string) (Object, error)

	// Open opens an object for reading. If there is no such object, it returns
	// the same error as Stat. The caller must close the File. The context also
	// applies to reads.
	Open(ctx context.Context, name string) (File, error)

	// List returns the objects whose names begin with prefix, sorted by the
	// bytes of their names. The field SHA256 is zero. A non-nil error ends the
	// sequence. Memory use does not depend on the number of objects in a bucket.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]

	// Check creates a small object and removes it. The error names the cause,
	// such as a missing bucket or directory, wrong credentials or a missing
	// permission.
	Check(ctx context.Context) error

	// String returns the URL of the Store without credentials.
	String() string
}

// An Object describes an object of a Store.
type Object struct {
	Name     string
	Size     int64             // in bytes
	SHA256   [sha256.Size]byte // digest of the bytes, or zero if it is not recorded
	Modified time.Time         // time of the creation
}

// A File is an open object. Each call of ReadAt reads only the given range. A
// File is safe for concurrent use.
type File interface {
	io.ReaderAt
	io.Closer
	Size() int64 // in bytes
}

// ErrConflict means that an object with this name, but with other bytes,
// exists. Its fault is fetch.Mismatch.
var ErrConflict = fetch.Mismatch.With(errors.New("another object with this name exists"))

// An Opener opens a Store.
type Opener interface {
	// Open opens the Store. It does not connect to a server.
	Open() (Store, error)

	// String returns the URL of the Store.
	String() string
}

// ParseURL parses the URL of a Store. The parameter scheme is "file" or "s3".
func ParseURL(text, scheme string) (*url.URL, error) {
	switch u, err := url.Parse(text); {
	case err != nil:
		return nil, fetch.Usage.Errorf("invalid URL of a store: use file:///DIR or s3://BUCKET/PREFIX")
	case u.Scheme != scheme:
		return nil, fetch.Usage.Errorf("store %s: the URL must begin with file:/// or s3://", u.Redacted())
	default:
		return u, nil
	}
}

// CheckName returns an error if name is not a valid object name. A valid name
// is a relative path in UTF-8 without "." and "..", control characters and
// backslashes. Its first component must not begin with ".fetch-", and its
// length is limited to 800 bytes.
func CheckName(name string) error {
	valid := fs.ValidPath(name) && name != "." && len(name) <= maxName && !strings.Contains(name, `\`) && !strings.HasPrefix(name, Reserved) &&
		strings.IndexFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }) < 0
	if !valid {
		return fetch.Usage.Errorf("%q cannot be the name of an object", name)
	}
	return nil
}

// Reserved is the prefix of the names of incomplete objects and test objects.
const Reserved = ".fetch-"

// maxName is the maximum length of a name in bytes. Names in S3, which include
// the prefix of the store, are limited to 1,024 bytes.
const maxName = 800

// A Failure is the error of a failed operation on an object.
type Failure struct {
	store string // URL of the Store without its parameters
	op    string // operation, such as "create"
	name  string // name of the object, or a description
	err   error
}

func (f *Failure) Error() string {
	return fmt.Sprintf("store %s: %s %s: %v", f.store, f.op, f.name, f.err)
}

func (f *Failure) Unwrap() error { return f.err }

// Fail wraps err in a Failure with the Store, the operation and the object
// name, unless err already is a Failure. It returns nil if err is nil.
func Fail(s Store, op, name string, err error) error {
	var f *Failure
	if err == nil || errors.As(err, &f) {
		return err
	}
	place, _, _ := strings.Cut(s.String(), "?")
	return &Failure{place, op, name, err}
}

// NotFound returns the error for an object that does not exist.
func NotFound(s Store, name string) error {
	return Fail(s, "open", name, fetch.NotFound.With(fs.ErrNotExist))
}

// Differs returns the error for bytes that do not have the size or the digest
// that the caller of Put expects.
func Differs(name string) error {
	return fetch.Mismatch.Errorf("%s does not have the expected size or SHA-256 digest", name)
}
