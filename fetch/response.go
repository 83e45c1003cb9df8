package fetch

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"iter"
	"net/netip"
	"strings"
	"time"

	"github.com/anyurl/fetch/uri"
)

// A Kind is the kind of object that a URL names, such as a document or a menu.
type Kind uint8

const (
	Unknown  Kind = iota // the protocol does not specify the kind
	Document             // bytes with a media type
	Menu                 // a listing, for Response.Entries
	Index                // a searchable index, for Client.Query
	Session              // an interactive session, with Response.Input
	Info                 // a line of a listing that names no object
)

var kinds = [...]string{"unknown", "document", "menu", "index", "session", "info"}

// String returns the name of the kind, such as "document".
func (k Kind) String() string { return kinds[min(int(k), len(kinds)-1)] }

// MarshalText returns the name of the kind, such as "document".
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses the name of a kind. It sets k to Unknown if there is no
// such kind, and always returns nil.
func (k *Kind) UnmarshalText(text []byte) error {
	*k = Unknown
	for i, name := range kinds {
		if name == string(text) {
			*k = Kind(i)
		}
	}
	return nil
}

// A Response is the response to a Request. The caller must close Body to
// release the connection, even after reading to the end.
type Response struct {
	URL   uri.URI   // URL of the object, after redirects
	Chain []uri.URI // URLs that redirected to URL, in order
	Kind  Kind
	Media string // media type with parameters, such as "text/html; charset=utf-8"; "" if unknown

	Size      int64     // size of the complete object in bytes, or -1 if unknown; Traits.ReportsSize explains 0
	Offset    int64     // offset of the first byte of Body in the object
	Time      time.Time // when the object was last modified, or zero if unknown
	Validator string    // for Request.IfSame and IfNot; "" if the transfer cannot be resumed

	// Digest is the digest of the complete object that the server announced, such
	// as "sha256=" and hexadecimal digits. It is "" if the server announced none,
	// or if Body is not the object but its decoded form. The middleware
	// wrap.Verify compares it.
	Digest string

	Code   int                  // status code of the server, or zero
	Proto  string               // protocol version, such as "HTTP/1.1"
	Peer   netip.Addr           // address of the server; zero if unknown, for example if a proxy resolved its name
	TLS    *tls.ConnectionState // nil if the connection was not encrypted
	Head   []byte               // head of the response as received, or nil
	Header Header               // parsed fields of Head

	// Trailer returns the trailer fields. It must be called after Body.Read has
	// returned io.EOF. It is nil if the protocol has no trailers.
	Trailer func() Header

	Location  uri.URI // target of a redirect, or zero
	Unchanged bool    // the condition of Since, Before or IfNot was not met, and Body is empty
	Fault     error   // if not nil, the server rejected the request, and Body is the error page

	// Doubt is not empty if Body may be incomplete although Read returns
	// io.EOF. It describes the reason. For example, some protocols do not
	// distinguish an empty object from a lost response. Callers should then
	// keep an earlier version of the object. Some drivers set Doubt only at the
	// end of Body.
	Doubt string

	Input  io.WriteCloser       // input of a session, or nil; Close closes the sending side
	Resize func(cols, rows int) // sends the new window size of a session to the server; may be nil

	// Body is never nil. Read returns io.EOF only if the protocol confirmed
	// that the object is complete. Close ends the transfer. Close can be called
	// more than once, and while another goroutine is in Read. The connection is
	// reused only if Body was read to io.EOF.
	Body io.ReadCloser

	menu   func(base uri.URI, media string, r io.Reader) iter.Seq2[Entry, error]
	source *referrer // for Request and Entry.Request
	listed bool      // Entries has read Body
}

// NoContent reports whether the server has no object for the URL: the status
// 204 of HTTP (RFC 9110, section 15.3.5). Callers should then keep an earlier
// version of the object.
func (r *Response) NoContent() bool {
	return r.Code == 204 && strings.HasPrefix(r.Proto, "HTTP/")
}

// Entries returns an iterator over the entries of a listing. It reads Body and
// closes it. The first error ends the iteration. It is an [*Error]. It has the
// Fault Unsupported if the object is not a listing, and the Fault Usage if
// Entries has read Body before.
func (r *Response) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if r.Body != nil {
			defer r.Body.Close()
		}
		if err := r.checkListing(); err != nil {
			yield(Entry{}, wrapError("list", r.URL.String(), err))
			return
		}
		r.listed = true
		for e, err := range r.menu(r.URL, r.Media, r.Body) {
			if err != nil {
				err = wrapError("list", r.URL.String(), err)
			}
			e.Time, e.source = checkYear(e.Time), r.source
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// checkListing returns an error if Entries cannot read a listing from Body.
func (r *Response) checkListing() error {
	switch {
	case r.Kind == Unknown:
		return Unsupported.Errorf("not a listing")
	case r.Kind != Menu:
		return Unsupported.Errorf("the object is not a listing (its kind: %s)", r.Kind)
	case r.menu == nil:
		return Unsupported.Errorf("the scheme has no function that parses listings")
	case r.listed:
		return Usage.Errorf("the listing has been read before")
	}
	return nil
}

// checkYear returns t, or the zero Time if the year of t is not from 0 to 9999,
// because JSON cannot represent such a time.
func checkYear(t time.Time) time.Time {
	for _, y := range [...]int{t.Year(), t.UTC().Year()} {
		if y < 0 || y > 9999 {
			return time.Time{}
		}
	}
	return t
}

// An Entry is one line of a listing, such as a file in a directory or an item
// of a menu. To fetch its URL, use [Entry.Request], because a server supplied
// the URL.
type Entry struct {
	Name  string
	URL   uri.URI // absolute URL, or zero if the line names no object
	Kind  Kind
	Media string
	Size  int64             // in bytes, or -1 if unknown
	Time  time.Time         // when the object was last modified, or zero if unknown
	Raw   string            // the line as the server sent it
	Extra map[string]string // properties that only some schemes supply

	source *referrer // the listing, or nil if unknown
}

type entryJSON struct {
	Name  string            `json:"name"`
	URL   string            `json:"url,omitempty"`
	Kind  Kind              `json:"kind"`
	Media string            `json:"media,omitempty"`
	Size  *int64            `json:"size,omitempty"`
	Time  *time.Time        `json:"time,omitempty"`
	Raw   string            `json:"raw,omitempty"`
	Extra map[string]string `json:"extra,omitempty"`
}

// MarshalJSON returns the entry as a JSON object. It omits unknown values and
// masks the password of the URL. It leaves the escaping of "&" and "<" to the
// calling encoder.
func (e Entry) MarshalJSON() ([]byte, error) {
	j := entryJSON{Name: e.Name, URL: e.URL.String(), Kind: e.Kind, Media: e.Media, Raw: e.Raw, Extra: e.Extra}
	if e.Size >= 0 {
		j.Size = &e.Size
	}
	if t := checkYear(e.Time); !t.IsZero() {
		j.Time = &t
	}
	var text bytes.Buffer
	w := json.NewEncoder(&text)
	w.SetEscapeHTML(false)
	err := w.Encode(j)
	return text.Bytes(), err
}

// UnmarshalJSON parses the output of [Entry.MarshalJSON].
func (e *Entry) UnmarshalJSON(text []byte) error {
	var j entryJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*e = Entry{Name: j.Name, Kind: j.Kind, Media: j.Media, Size: -1, Raw: j.Raw, Extra: j.Extra}
	if j.Size != nil {
		e.Size = *j.Size
	}
	if j.Time != nil {
		e.Time = *j.Time
	}
	if j.URL == "" {
		return nil
	}
	var err error
	e.URL, err = uri.Parse(j.URL)
	return err
}
