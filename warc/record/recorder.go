// Package record records the requests and responses of a [fetch.Client] in WARC
// files. Together with package fetch/roundtrip, it also records the GET requests
// of every [net/http.Client].
//
// A [Recorder] is a middleware that writes the WARC records of each exchange
// when the caller has read the response:
//
//	r := record.ToFile("page.warc.gz", record.Options{})
//	web := r.HTTPClient(client) // or client.With(r.Middleware)
//	...
//	err = r.Close()
//
// [New] returns a Recorder for a warc.Writer, which divides its output into
// several files.
//
// A program that decides itself when and how an exchange is written uses an
// [Exchange]. A crawler does this to replace a known object by a revisit record.
//
// An exchange over http or https becomes a response record and a request record
// with the bytes on the connection. Values of secret header fields are masked in
// the request. Exchanges of other schemes become a resource record, followed by
// a metadata record with the commands and replies, or with the planned actions.
// An exchange without a response becomes a metadata record with the error.
package record

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/roundtrip"
	"github.com/anyurl/fetch/warc"
)

// Options configures a [Recorder] or an [Exchange]. The zero value is ready to
// use.
type Options struct {
	// TempDir is the directory of the temporary files of large messages. The
	// files have no name on systems that can remove an open file. If TempDir is
	// empty, os.TempDir returns the directory.
	TempDir string

	// NewSpool returns storage for one message. If NewSpool is nil, small
	// messages are stored in memory, and large messages in TempDir.
	NewSpool func() Spool

	// KeepTransferCoding selects the form of HTTP bodies. If it is true, response
	// records keep a transfer coding such as chunked. Most other software reads
	// only bodies without a transfer coding.
	KeepTransferCoding bool

	// Undecoded means that the bodies of responses keep their content codings, so
	// that OmitBody always applies.
	Undecoded bool
}

// A Recorder writes the WARC records of all exchanges of one or more Clients. It
// must be created with [ToFile] or [New]. It is safe for concurrent use.
type Recorder struct {
	options Options
	writer  *warc.Writer

	mu  sync.Mutex
	err error // first error of writing a record

	dir *os.Root // directory of a file of ToFile, or nil
}

// New returns a Recorder that writes to w. The caller closes w after the last
// response body is closed. Other goroutines may write to w at the same time.
func New(w *warc.Writer, o Options) *Recorder { return &Recorder{options: o, writer: w} }

// ToFile returns a Recorder that writes to the WARC file path, such as
// "page.warc.gz". It is compressed with gzip unless its name ends in ".warc"; a
// name that ends in ".zst" is an error, because it requires [New]. The file gets
// its name in Close and then replaces an existing file. If it cannot be created,
// requests are sent but not recorded, and Err, Close and the bodies of the
// responses return the error.
//
// The caller closes the Recorder after the last response body is closed.
func ToFile(path string, o Options) *Recorder {
	r := &Recorder{options: o}
	if r.dir, r.err = os.OpenRoot(filepath.Dir(path)); r.err == nil {
		name := filepath.Base(path)
		r.writer, r.err = warc.NewWriter(r.dir, warc.Options{Name: name, Uncompressed: strings.HasSuffix(name, ".warc")})
	}
	if r.err != nil {
		r.err = fetch.Local.With(r.err)
	}
	return r
}

// Close closes the file of [ToFile]. It returns the first error of writing a
// record, or of closing the file. For a Recorder of [New], Close has no effect.
func (r *Recorder) Close() error {
	err := r.Err()
	if r.dir == nil {
		return err
	}
	if r.writer != nil {
		err = cmp.Or(err, r.writer.Close())
	}
	return cmp.Or(err, r.dir.Close())
}

// HTTPClient returns an http.Client whose requests are performed by client and
// recorded, after the middlewares of client. It has the methods and limits of
// [roundtrip.Transport]. The caller closes client.
//
// The records are written when the Body of a response has been read completely. If
// the Body is closed before, the record has the bytes that were read, and is marked
// as truncated. A response whose Body is neither read nor closed is not recorded.
func (r *Recorder) HTTPClient(client *fetch.Client) *http.Client {
	return &http.Client{Transport: roundtrip.Transport{Client: client.With(r.Middleware)}}
}

// Err returns the first error of writing a record. After an error, the Recorder
// writes no more records, and the bodies of all responses return this error.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Middleware returns a driver that records the exchanges of the driver next. Its
// place in fetch.Options.Wrap selects the exchanges:
//   - As the first element, Middleware records the responses that the caller
//     receives. If an HTTP request is retried, it records the last attempt. HTTP
//     bodies are then neither resumed nor divided into segments.
//   - As the last element, Middleware records every attempt of a request, and
//     every part of an object over HTTP.
//
// In both cases, each hop of a chain of redirects has its own records.
//
// The records are written when Body.Read returns an error such as io.EOF, or
// when Body is closed. If the body is incomplete, its record is marked as
// truncated. If the records cannot be written, Read or Close returns the error.
//
// These exchanges are not recorded: interactive sessions, requests with the Op
// Stat, and errors that occur before a request is sent. A request for a Range
// and an unchanged object are recorded only for http and https.
func (r *Recorder) Middleware(next fetch.Driver) fetch.Driver {
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		s := req.Scheme()
		if s.Traits.Session || req.Op != fetch.Get || !recordsMessages(&s) && !req.Range.IsZero() {
			return next.Do(ctx, req)
		}
		x := NewExchange(req.URL, s, r.options)
		recorded := *req
		recorded.Trace = x.Trace(req.Trace)
		resp, err := next.Do(ctx, &recorded)
		if err != nil {
			defer x.Free()
			if ctx.Err() == nil && !Unsent(err) {
				if failed := r.write([]*warc.Record{x.Capture().Failure(err)}); failed != nil {
					err = failed
				}
			}
			return nil, err
		}
		x.Respond(resp)
		b := &body{recorder: r, exchange: x, resp: resp, source: resp.Body}
		if !recordsMessages(&s) {
			b.object = r.options.Spool()
		}
		resp.Body = b
		return resp, nil
	})
}

// unsent lists the faults that occur before a request is sent.
var unsent = [...]fetch.Fault{
	fetch.Denied, fetch.BadPort, fetch.BadAddress, fetch.BadReferral, fetch.Unsupported, fetch.NeedQuery, fetch.BadURL,
	fetch.Usage, fetch.Local,
}

// Unsent reports whether err is the error of a request that was not sent, for
// example because the Policy denied it. Such a request has no records.
func Unsent(err error) bool { return slices.Contains(unsent[:], fetch.FaultOf(err)) }

// write writes a group of records. After an error, it writes no records and
// returns the same error.
func (r *Recorder) write(group []*warc.Record) error {
	if len(group) == 0 {
		return r.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		_, r.err = r.writer.Write(group...)
	}
	return r.err
}

// A body is the body of a recorded response. It writes the records at its end.
type body struct {
	recorder *Recorder
	exchange *Exchange
	resp     *fetch.Response
	source   io.ReadCloser
	object   Spool // the bytes of source, or nil if the exchange stores them

	mu    sync.Mutex // locked during a call of Read
	ended bool       // if true, the records are written
}

// Read reads from the body and writes the records at its end.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.source.Read(p)
	if b.ended {
		return n, err
	}
	var failed error
	if b.object != nil {
		_, failed = b.object.Write(p[:n])
	}
	switch {
	case failed != nil || err == nil:
	case err == io.EOF:
		failed = b.end("")
	case fetch.FaultOf(err) == fetch.Timeout:
		failed = b.end(warc.TruncatedByTime)
	default:
		failed = b.end(warc.TruncatedByDisconnect)
	}
	if failed != nil {
		err = failed
	}
	return n, err
}

// maxDrained limits the bytes of an error page or redirect that Close reads for
// the record if the caller has not read the body.
const maxDrained = 16 << 20

// Close writes the records, also if the caller did not read the complete body.
func (b *body) Close() error {
	if b.resp.Fault != nil || !b.resp.Location.IsZero() || b.resp.Unchanged {
		io.CopyN(io.Discard, b, maxDrained) // Read writes the records at the end
	}
	err := b.source.Close() // unblocks a concurrent Read
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		if failed := b.end(warc.TruncatedUnspecified); failed != nil {
			err = failed
		}
	}
	b.exchange.Free()
	if b.object != nil {
		b.object.Free()
	}
	return err
}

// end writes the records. If the body is incomplete, truncated is the reason.
func (b *body) end(truncated string) error {
	b.ended = true
	if b.object != nil && b.resp.Unchanged {
		return nil
	}
	group, err := b.exchange.Records(Content{Object: b.object, Truncated: truncated})
	if err != nil {
		return err
	}
	return b.recorder.write(group)
}
