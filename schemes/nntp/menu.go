package nntp

import (
	"errors"
	"io"
	"iter"
	"mime"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/uri"
)

// maxLine is the maximum length of a line in a listing, in bytes. The overview
// line of an article with many references is long.
const maxLine = 1 << 20

// menu parses a listing of groups or articles. A malformed line becomes an
// entry of kind Info, because old overview databases contain damaged lines.
func menu(base uri.URI, media string, r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		read, err := entryParser(base, media)
		if err != nil {
			yield(fetch.Entry{}, err)
			return
		}
		lines := line.NewReader(r)
		for {
			text, _, err := lines.ReadLine(maxLine)
			switch {
			case err == io.EOF:
				return
			case errors.Is(err, line.ErrTooLong):
				err = fetch.Protocol.Errorf("line of the listing is longer than %d bytes", maxLine)
			case err == nil:
				if !yield(read(string(text)), nil) {
					return
				}
				continue
			}
			yield(fetch.Entry{}, err)
			return
		}
	}
}

// entryParser returns the function that parses a line of a listing with the
// given media type.
func entryParser(base uri.URI, media string) (func(string) fetch.Entry, error) {
	kind, params, err := mime.ParseMediaType(media)
	if err != nil {
		return nil, fetch.Unsupported.Errorf("media type %q is not a listing of a news server", media)
	}
	l, err := parseLocator(base)
	if err != nil {
		return nil, err
	}
	n := urlBuilder{base: base.WithoutUserinfo().WithoutQuery().WithoutFragment(), group: l.group}
	switch kind {
	case "text/x-nntp-overview":
		return newFieldParser(n, strings.Split(params["fields"], ",")...).parseOverview, nil
	case "text/x-nntp-hdr":
		return newFieldParser(n, params["field"]).parseField, nil
	case activeMedia:
		return n.parseActive, nil
	case descriptionMedia:
		return n.parseDescription, nil
	case idsMedia:
		return n.parseMessageID, nil
	}
	return nil, fetch.Unsupported.Errorf("media type %q is not a listing of a news server", media)
}

// A urlBuilder builds the URLs of entries in the listing at base.
type urlBuilder struct {
	base  uri.URI
	group string
}

// withPath returns base with another path on the same server, or the zero URI
// if the path is not valid.
func (n urlBuilder) withPath(path string) uri.URI {
	if n.base.HasAuthority() {
		path = "/" + path
	}
	u, err := n.base.WithPath(path)
	if err != nil {
		return uri.URI{}
	}
	return u
}

// articleURL returns the URL of an article. In a news listing, the URL contains
// the message-id, which is the same on every server. In an nntp listing, or
// without a valid message-id, the URL contains the number.
func (n urlBuilder) articleURL(number, id string) uri.URI {
	scheme := n.base.Scheme()
	id, err := parseID(id)
	if err == nil && (scheme == "news" || scheme == "snews") {
		return n.messageIDURL(id)
	}
	if number == "" || validateGroup(n.group) != nil {
		return uri.URI{}
	}
	return n.withPath(uri.Escape(n.group, groupChars) + "/" + number)
}

func (n urlBuilder) messageIDURL(id string) uri.URI {
	return n.withPath(uri.Escape(id[1:len(id)-1], uri.Segment))
}

// groupChars are the characters of a group name that are not percent-encoded in
// a URL. RFC 5538 5 requires the encoding of most other characters.
const groupChars = uri.Unreserved | uri.SubDelims

func (n urlBuilder) groupURL(name string) uri.URI {
	if validateGroup(name) != nil || strings.Contains(name, "@") {
		return uri.URI{}
	}
	return n.withPath(uri.Escape(name, groupChars))
}

// infoEntry returns an entry of kind Info, which has a text and no URL.
func infoEntry(text string) fetch.Entry {
	return fetch.Entry{Name: text, Kind: fetch.Info, Size: -1, Raw: text}
}

// parseActive parses a line of the form "name high low status" (RFC 3977
// 7.6.3). All words after the name are optional.
func (n urlBuilder) parseActive(text string) fetch.Entry {
	words := strings.Fields(text)
	if len(words) == 0 || n.groupURL(words[0]).IsZero() {
		return infoEntry(text)
	}
	e := n.groupEntry(words[0], text)
	for i, key := range []string{"high", "low"} {
		if i+1 < len(words) {
			if v, ok := parseNumber(words[i+1]); ok {
				e.Extra[key] = formatNumber(v)
			}
		}
	}
	if len(words) > 3 {
		e.Extra["status"] = words[3]
	}
	return e
}

// parseDescription parses a line of the form "name description" (RFC 3977
// 7.6.6).
func (n urlBuilder) parseDescription(text string) fetch.Entry {
	name, description := text, ""
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		name, description = text[:i], strings.TrimSpace(text[i:])
	}
	if n.groupURL(name).IsZero() {
		return infoEntry(text)
	}
	e := n.groupEntry(name, text)
	e.Extra["description"] = description
	return e
}

func (n urlBuilder) groupEntry(name, text string) fetch.Entry {
	u := n.groupURL(name)
	return fetch.Entry{Name: name, URL: u, Kind: fetch.Menu, Size: -1, Raw: text, Extra: map[string]string{}}
}

// parseMessageID parses a line with a message-id (RFC 3977 7.4). The URL of the
// entry contains the message-id even in an nntp listing, because the number is
// unknown.
func (n urlBuilder) parseMessageID(text string) fetch.Entry {
	id, err := parseID(strings.TrimSpace(text))
	if err != nil {
		return infoEntry(text)
	}
	return fetch.Entry{Name: id, URL: n.messageIDURL(id), Kind: fetch.Document, Media: articleMedia, Size: -1, Raw: text,
		Extra: map[string]string{"message_id": id}}
}
