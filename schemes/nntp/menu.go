package nntp

import (
	"errors"
	"io"
	"iter"
	"mime"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/uri"
)

// maxLine bounds a line of a listing. References make some of them long.
const maxLine = 1 << 20

// menu reads the listings of this package. A line that is none of theirs is
// an entry of kind Info: servers have garbage in old overviews.
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
				err = fetch.Protocol.Errorf("line of more than %d bytes in a listing", maxLine)
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

// reader is what reads the lines of a listing of this media type.
func entryParser(base uri.URI, media string) (func(string) fetch.Entry, error) {
	kind, params, err := mime.ParseMediaType(media)
	if err != nil {
		return nil, fetch.Unsupported.Errorf("media type %q is no listing of news", media)
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
	return nil, fetch.Unsupported.Errorf("media type %q is no listing of news", media)
}

// A namer writes the URLs of what a listing at base names.
type urlBuilder struct {
	base  uri.URI
	group string
}

// url is base with another path: behind its server, if it has one.
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

// article is the URL of an article: by its message-id where base is of news,
// which is the same on every server; by its number where base is of nntp, or
// where there is no message-id that a URL can hold.
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

// groupChars are what a group's name may hold in a URL; RFC 5538 5 has most
// others encoded.
const groupChars = uri.Unreserved | uri.SubDelims

func (n urlBuilder) groupURL(name string) uri.URI {
	if validateGroup(name) != nil || strings.Contains(name, "@") {
		return uri.URI{}
	}
	return n.withPath(uri.Escape(name, groupChars))
}

// info is a line that leads nowhere.
func infoEntry(text string) fetch.Entry {
	return fetch.Entry{Name: text, Kind: fetch.Info, Size: -1, Raw: text}
}

// active reads "name high low status" (RFC 3977 7.6.3), also without what is
// behind the name.
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

// description reads "name description" (RFC 3977 7.6.6).
func (n urlBuilder) parseDescription(text string) fetch.Entry {
	name, about := text, ""
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		name, about = text[:i], strings.TrimSpace(text[i:])
	}
	if n.groupURL(name).IsZero() {
		return infoEntry(text)
	}
	e := n.groupEntry(name, text)
	e.Extra["description"] = about
	return e
}

func (n urlBuilder) groupEntry(name, text string) fetch.Entry {
	return fetch.Entry{Name: name, URL: n.groupURL(name), Kind: fetch.Menu, Size: -1, Raw: text, Extra: map[string]string{}}
}

// id reads a message-id (RFC 3977 7.4). There is no number to name an article
// by, even where base is of nntp.
func (n urlBuilder) parseMessageID(text string) fetch.Entry {
	id, err := parseID(strings.TrimSpace(text))
	if err != nil {
		return infoEntry(text)
	}
	return fetch.Entry{Name: id, URL: n.messageIDURL(id), Kind: fetch.Document, Media: articleMedia, Size: -1, Raw: text,
		Extra: map[string]string{"message_id": id}}
}
