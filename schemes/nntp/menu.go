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
		read, err := reader(base, media)
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
func reader(base uri.URI, media string) (func(string) fetch.Entry, error) {
	kind, params, err := mime.ParseMediaType(media)
	if err != nil {
		return nil, fetch.Unsupported.Errorf("media type %q is no listing of news", media)
	}
	l, err := locate(base)
	if err != nil {
		return nil, err
	}
	n := namer{base: base.WithoutUserinfo().WithoutQuery().WithoutFragment(), group: l.group}
	switch kind {
	case "text/x-nntp-overview":
		return newFieldReader(n, strings.Split(params["fields"], ",")...).overview, nil
	case "text/x-nntp-hdr":
		return newFieldReader(n, params["field"]).field, nil
	case activeMedia:
		return n.active, nil
	case descriptionMedia:
		return n.description, nil
	case idsMedia:
		return n.id, nil
	}
	return nil, fetch.Unsupported.Errorf("media type %q is no listing of news", media)
}

// A namer writes the URLs of what a listing at base names.
type namer struct {
	base  uri.URI
	group string
}

// url is base with another path: behind its server, if it has one.
func (n namer) url(path string) uri.URI {
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
func (n namer) article(number, id string) uri.URI {
	scheme := n.base.Scheme()
	id, err := parseID(id)
	if err == nil && (scheme == "news" || scheme == "snews") {
		return n.byID(id)
	}
	if number == "" || checkGroup(n.group) != nil {
		return uri.URI{}
	}
	return n.url(uri.Escape(n.group, groupChars) + "/" + number)
}

func (n namer) byID(id string) uri.URI {
	return n.url(uri.Escape(id[1:len(id)-1], uri.Segment))
}

// groupChars are what a group's name may hold in a URL; RFC 5538 5 has most
// others encoded.
const groupChars = uri.Unreserved | uri.SubDelims

func (n namer) ofGroup(name string) uri.URI {
	if checkGroup(name) != nil || strings.Contains(name, "@") {
		return uri.URI{}
	}
	return n.url(uri.Escape(name, groupChars))
}

// info is a line that leads nowhere.
func info(text string) fetch.Entry {
	return fetch.Entry{Name: text, Kind: fetch.Info, Size: -1, Raw: text}
}

// active reads "name high low status" (RFC 3977 7.6.3), also without what is
// behind the name.
func (n namer) active(text string) fetch.Entry {
	words := strings.Fields(text)
	if len(words) == 0 || n.ofGroup(words[0]).IsZero() {
		return info(text)
	}
	e := n.menu(words[0], text)
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
func (n namer) description(text string) fetch.Entry {
	name, about := text, ""
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		name, about = text[:i], strings.TrimSpace(text[i:])
	}
	if n.ofGroup(name).IsZero() {
		return info(text)
	}
	e := n.menu(name, text)
	e.Extra["description"] = about
	return e
}

func (n namer) menu(name, text string) fetch.Entry {
	return fetch.Entry{Name: name, URL: n.ofGroup(name), Kind: fetch.Menu, Size: -1, Raw: text, Extra: map[string]string{}}
}

// id reads a message-id (RFC 3977 7.4). There is no number to name an article
// by, even where base is of nntp.
func (n namer) id(text string) fetch.Entry {
	id, err := parseID(strings.TrimSpace(text))
	if err != nil {
		return info(text)
	}
	return fetch.Entry{Name: id, URL: n.byID(id), Kind: fetch.Document, Media: articleMedia, Size: -1, Raw: text,
		Extra: map[string]string{"message_id": id}}
}
