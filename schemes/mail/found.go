package mail

import (
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/entries"
	"github.com/anyurl/fetch/uri"
	"github.com/emersion/go-imap/v2"
)

// found lists the messages that the search of q finds.
func (s *session) found(q *task) (*fetch.Response, error) {
	resp := s.mailbox.response()
	if q.req.Op == fetch.Stat {
		return resp, nil
	}
	set, err := s.search(q.search)
	if err != nil || len(set) == 0 {
		return resp, err
	}
	resp.Body = &finds{s: s, trace: q.req.Trace, namer: newNamer(q.req.URL), left: set}
	return resp, nil
}

// search returns the UIDs of the messages that a program finds in the mailbox.
// Where the server can tell ranges, it does (RFC 4731).
func (s *session) search(text string) (imap.UIDSet, error) {
	p, err := parseProgram(text)
	if err != nil {
		return nil, err
	}
	words, err := p.wire(s.caps["LITERAL+"] || s.caps["LITERAL-"] || s.caps["IMAP4REV2"])
	if err != nil {
		return nil, err
	}
	verb := "UID SEARCH "
	if s.caps["ESEARCH"] || s.caps["IMAP4REV2"] {
		verb += "RETURN (ALL) "
	}
	s.guard.begin(verb + words)
	data, err := s.client.UIDSearch(&imap.SearchCriteria{}, nil).Wait()
	if err != nil {
		return nil, s.fault("SEARCH", fetch.Denied, err)
	}
	s.reused = false
	set, _ := data.All.(imap.UIDSet)
	return set, nil
}

// finds is the listing of a set of messages, some at a time: no command has
// room for many numbers.
type finds struct {
	s     *session
	trace *fetch.Trace
	namer namer
	left  imap.UIDSet
	now   *listing    // of some of them
	bare  io.Reader   // of the same, with no more than their numbers
	some  imap.UIDSet // the same
	told  bool        // something of now was given out
}

// atOnce is how many messages one command asks for.
const atOnce = 200

func (f *finds) Read(p []byte) (int, error) {
	for {
		if f.now == nil && f.bare == nil {
			if len(f.left) == 0 {
				return 0, io.EOF
			}
			f.some, f.left = take(f.left, atOnce)
			f.now, f.told = f.s.summaries(f.namer, f.some), false
		}
		n, err := f.read(p)
		if n > 0 || err != nil && err != io.EOF {
			return n, err
		}
	}
}

// read reads one of the listings that make this one.
func (f *finds) read(p []byte) (int, error) {
	if f.bare != nil {
		n, err := f.bare.Read(p)
		if err == io.EOF {
			f.bare = nil
		}
		return n, err
	}
	n, err := f.now.Read(p)
	f.told = f.told || n > 0
	switch {
	case err == nil:
	case err == io.EOF:
		f.now = nil
	case fetch.FaultOf(err) == fetch.Protocol && !f.told:
		f.trace.Notef("server's description of the messages found makes no sense: their numbers alone follow")
		f.now, f.bare = nil, f.numbers()
		return n, nil
	}
	return n, err
}

// numbers lists all that is left by number alone.
func (f *finds) numbers() io.Reader {
	left := append(f.some, f.left...)
	f.left = nil
	m := f.s.mailbox
	return entries.NewReader(func() (fetch.Entry, error) {
		var one imap.UIDSet
		if one, left = take(left, 1); len(one) == 0 {
			return fetch.Entry{}, io.EOF
		}
		uid := uint32(one[0].Start)
		return fetch.Entry{Name: one.String(), Kind: fetch.Document, Media: messageMedia, Size: -1,
			URL: f.namer.message(m, uid), Extra: map[string]string{"uid": one.String()}}, nil
	})
}

// take parts a set after its first n numbers.
func take(set imap.UIDSet, n uint32) (some, rest imap.UIDSet) {
	for i, r := range set {
		if r.Start == 0 || r.Stop == 0 {
			continue // not a number of a message
		}
		if size := uint32(r.Stop - r.Start); size >= n {
			middle := r.Start + imap.UID(n)
			rest = append(imap.UIDSet{{Start: middle, Stop: r.Stop}}, set[i+1:]...)
			return append(some, imap.UIDRange{Start: r.Start, Stop: middle - 1}), rest
		} else if n -= size + 1; n == 0 {
			return append(some, r), set[i+1:]
		}
		some = append(some, r)
	}
	return some, nil
}

func (f *finds) Close() error {
	if f.now != nil {
		return f.now.Close()
	}
	return nil
}

// query asks a mailbox for the messages whose text has all the words.
func query(u uri.URI, search fetch.Search) (uri.URI, error) {
	if len(search.Like) > 0 {
		return uri.URI{}, fetch.Unsupported.Errorf("imap finds words, not messages that resemble others")
	}
	var keys []string
	for word := range strings.FieldsSeq(search.Words) {
		keys = append(keys, "TEXT "+quote(word))
	}
	if len(keys) == 0 {
		return uri.URI{}, fetch.NeedQuery.Errorf("search without words")
	}
	p := u.Parts()
	p.Query, p.HasQuery = uri.Escape(strings.Join(keys, " "), uri.Unreserved), true
	found, err := uri.Build(p)
	if err != nil {
		return uri.URI{}, fetch.BadURL.With(err)
	}
	_, err = locate(found)
	return found, err
}
