package fetch

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"iter"
	"net/netip"
	"time"

	"github.com/anyurl/fetch/uri"
)

// Kind says what a URL turned out to be.
type Kind uint8

const (
	Unknown  Kind = iota
	Document      // bytes with a media type
	Menu          // a listing: Response.Entries reads it
	Index         // asks for words: Client.Search
	Session       // Response.Input is joined to a peer
	Info          // of an Entry: a line that leads nowhere
)

var kinds = [...]string{"unknown", "document", "menu", "index", "session", "info"}

// String is the name of k in records.
func (k Kind) String() string { return kinds[min(int(k), len(kinds)-1)] }

// MarshalText is String.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText wrote; another text is Unknown.
func (k *Kind) UnmarshalText(text []byte) error {
	*k = Unknown
	for i, name := range kinds {
		if name == string(text) {
			*k = Kind(i)
		}
	}
	return nil
}

// A Response is an object, or the beginning of one. The caller closes Body,
// read to its end or not: until then it holds what the transfer needs.
type Response struct {
	URL   uri.URI   // of this object, after redirects
	Chain []uri.URI // the URLs that redirected here, in order
	Kind  Kind
	Media string // media type with parameters; "" where nobody knows

	Size      int64     // of the whole object in bytes; -1: the protocol does not say. See Traits.ReportsSize
	Offset    int64     // of Body's first byte in the object
	Time      time.Time // when the object last changed; zero: unknown
	Validator string    // for Request.IfSame and IfNot; "": it cannot be resumed

	Code   int                  // the server's own status number, or zero
	Proto  string               // as spoken: "HTTP/1.1"
	Peer   netip.Addr           // zero: behind a proxy or gateway, or no network
	TLS    *tls.ConnectionState // nil: the exchange was in clear
	Head   []byte               // the raw head, where the protocol has one
	Header Header               // the parsed head

	// Trailer returns the fields that came behind the body, once Read has
	// returned io.EOF. Nil: the protocol has none.
	Trailer func() Header

	Location  uri.URI // not zero: look there instead
	Unchanged bool    // the condition of the Request did not hold: Body is empty
	Fault     error   // the server said no, and Body is its page; a Client makes it the error

	// Doubt is the reason why Body may be incomplete although Read returns
	// io.EOF, or "". Some protocols do not distinguish an empty object from a
	// lost answer. Callers should keep an earlier version of the object.
	Doubt string

	Input  io.WriteCloser       // not nil: a session; Close is a half close
	Resize func(cols, rows int) // of a session's window; may be nil

	// Body is never nil. Read returns io.EOF only when the protocol proved
	// that the object is whole. Close ends the transfer; it may be called
	// again, and beside Read. A connection can be used again only where
	// Body was read to io.EOF.
	Body io.ReadCloser

	menu   func(base uri.URI, media string, r io.Reader) iter.Seq2[Entry, error]
	source *referrer // for Request and Entry.Request
	listed bool      // by Entries
}

// Entries reads Body as a listing and closes it. The sequence ends at the
// first error. A body that is no listing is an error of Fault Unsupported, and
// one that Entries has read before of Fault Usage: it is not empty.
func (r *Response) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		defer r.Body.Close()
		if r.menu == nil || r.Kind != Menu {
			yield(Entry{}, Unsupported.Errorf("no listing: %s is a %s", r.URL, r.Kind))
			return
		}
		if r.listed {
			yield(Entry{}, Usage.Errorf("the listing of %s was read before", r.URL))
			return
		}
		r.listed = true
		for e, err := range r.menu(r.URL, r.Media, r.Body) {
			e.Time, e.source = checkYear(e.Time), r.source
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// datable is t, or unknown where its year has not four digits: a server may say
// so, and no record could hold it.
func checkYear(t time.Time) time.Time {
	for _, y := range [...]int{t.Year(), t.UTC().Year()} {
		if y < 0 || y > 9999 {
			return time.Time{}
		}
	}
	return t
}

// An Entry is one line of a listing, the same for every scheme. Its URL is the
// word of a server: fetch it by [Entry.Request].
type Entry struct {
	Name  string
	URL   uri.URI // absolute; zero for a line that leads nowhere
	Kind  Kind
	Media string
	Size  int64             // bytes; -1: unknown
	Time  time.Time         // zero: unknown
	Raw   string            // the server's own line
	Extra map[string]string // what only one scheme knows

	source *referrer // the listing; nil: unknown
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

// MarshalJSON writes e as one record: what is unknown is left out. Whether "&"
// and "<" are escaped is for the encoder to say.
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

// UnmarshalJSON reads what MarshalJSON wrote.
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
