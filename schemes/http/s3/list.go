package s3

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"hash/maphash"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/awssign"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/uri"
)

const (
	pageSize = 1000      // objects in a page, the maximum of S3
	maxPage  = 8 << 20   // bytes of a page: 1,000 keys of 1,024 bytes, each byte encoded as "%XX", and their properties
	maxTags  = 100_000   // elements of a page, and attributes
	maxEmpty = 100       // consecutive pages without entries
	maxToken = 16 << 10  // bytes of a token, which is part of a URL
	maxPages = 1_000_000 // pages of a listing
)

// A page is a part of a list of objects.
type page struct {
	XMLName  xml.Name `xml:"ListBucketResult"`
	Encoding string   `xml:"EncodingType"`

	Truncated bool   `xml:"IsTruncated"`
	Token     string `xml:"NextContinuationToken"`
	Contents  []object
	Prefixes  []struct{ Prefix string } `xml:"CommonPrefixes"`

	response *fetch.Response
}

// An object is an entry of a page.
type object struct {
	Key          string
	LastModified string
	ETag         string
	Size         string
	StorageClass string
}

// listQuery returns the query of a request for a page, with its parameters in
// the order that a signature requires.
func listQuery(prefix, token string, size int) string {
	q := ""
	if token != "" {
		q = "continuation-token=" + uri.Escape(token, uri.Unreserved) + "&"
	}
	return q + "delimiter=%2F&encoding-type=url&list-type=2&max-keys=" + strconv.Itoa(size) + "&prefix=" + uri.Escape(prefix, uri.Unreserved)
}

// page requests a page of the objects with the prefix l.key.
func (d *driver) page(ctx context.Context, req *fetch.Request, l locator, token string, size int) (*page, error) {
	c := d.server.call(l.bucket, "")
	c.query = listQuery(l.key, token, size)
	plain := &fetch.Request{URL: req.URL, From: req.From, Trace: req.Trace}
	resp, err := d.send(ctx, plain, c)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.Fault != nil {
		return nil, resp.Fault
	}
	text, err := io.ReadAll(io.LimitReader(d.env.Limit(resp.Body), maxPage+1))
	if err != nil {
		return nil, err
	}
	p, err := parsePage(text)
	if err != nil {
		return nil, err
	}
	p.response = resp
	return p, nil
}

// parsePage parses a page. It decodes keys only if the page states that they are
// encoded, because some servers ignore the parameter encoding-type.
func parsePage(text []byte) (*page, error) {
	quotes := bytes.Count(text, []byte(`"`)) + bytes.Count(text, []byte("'")) // two of each attribute
	if len(text) > maxPage || bytes.Count(text, []byte("<")) > maxTags || quotes > 2*maxTags {
		return nil, fetch.TooLarge.Errorf("a list of objects is longer than %d bytes or has more than %d elements", maxPage, maxTags)
	}
	p := new(page)
	if err := xml.Unmarshal(text, p); err != nil {
		return nil, fetch.Protocol.Errorf("the response is not a list of objects in the XML format of S3: check the endpoint")
	}
	if len(p.Token) > maxToken || p.Truncated && p.Token == "" {
		return nil, fetch.Protocol.Errorf("a list of objects has no valid token for the next page")
	}
	if p.Encoding != "url" {
		return p, nil
	}
	for i := range p.Contents {
		key, err := decodeKey(p.Contents[i].Key)
		if err != nil {
			return nil, err
		}
		p.Contents[i].Key = key
	}
	for i := range p.Prefixes {
		prefix, err := decodeKey(p.Prefixes[i].Prefix)
		if err != nil {
			return nil, err
		}
		p.Prefixes[i].Prefix = prefix
	}
	return p, nil
}

// decodeKey decodes a key. Servers encode a space as a plus sign.
func decodeKey(text string) (string, error) {
	key, err := uri.Unescape(strings.ReplaceAll(text, "+", "%20"))
	if err != nil {
		return "", fetch.Protocol.Errorf("a key in a list of objects is malformed")
	}
	return key, nil
}

// A listing returns the entries of all pages.
type listing struct {
	driver *driver
	ctx    context.Context
	req    *fetch.Request
	where  locator
	page   *page
	seen   map[uint64]bool // hashes of the tokens of earlier pages, because a token can be long
	seed   maphash.Seed
	empty  int // pages since the last entry
}

// next returns the next entry. It returns io.EOF after the last one.
func (l *listing) next() (fetch.Entry, error) {
	for {
		if p := l.page; len(p.Prefixes) > 0 {
			prefix := p.Prefixes[0].Prefix
			p.Prefixes, l.empty = p.Prefixes[1:], 0
			return l.folder(prefix), nil
		} else if len(p.Contents) > 0 {
			o := p.Contents[0]
			p.Contents = p.Contents[1:]
			if o.Key == l.where.key { // the object that some programs create for a folder
				continue
			}
			l.empty = 0
			return l.entry(o), nil
		} else if !p.Truncated {
			return fetch.Entry{}, io.EOF
		}
		if err := l.turn(); err != nil {
			return fetch.Entry{}, err
		}
	}
}

// turn requests the next page.
func (l *listing) turn() error {
	token := l.page.Token
	hash := maphash.String(l.seed, token)
	switch {
	case l.seen[hash] || len(l.seen) == maxPages:
		return fetch.Loop.Errorf("the list of objects repeats a page, or has more than %d pages", maxPages)
	case l.empty > maxEmpty:
		return fetch.Protocol.Errorf("the list of objects has %d pages without entries", maxEmpty)
	}
	l.seen[hash] = true
	l.empty++
	p, err := l.driver.page(l.ctx, l.req, l.where, token, pageSize)
	if err != nil {
		return err
	}
	l.page = p
	return nil
}

// folder returns the entry of a common prefix, which ends in a slash.
func (l *listing) folder(prefix string) fetch.Entry {
	name := strings.TrimPrefix(prefix, l.where.key)
	if short := strings.TrimSuffix(name, "/"); short != "" {
		name = short
	}
	e := fetch.Entry{Name: name, Kind: fetch.Menu, Media: entries.Media, Size: -1, Raw: prefix}
	if !strings.HasSuffix(prefix, "/") {
		e.Kind = fetch.Info
		return e
	}
	l.setURL(&e, prefix)
	return e
}

// entry returns the entry of an object.
func (l *listing) entry(o object) fetch.Entry {
	e := fetch.Entry{
		Name: strings.TrimPrefix(o.Key, l.where.key), Kind: fetch.Document, Media: media.ByName(o.Key), Size: -1, Raw: o.Key,
		Extra: map[string]string{},
	}
	if n, err := strconv.ParseInt(o.Size, 10, 62); err == nil && n >= 0 {
		e.Size = n
	}
	if t, err := time.Parse(time.RFC3339, o.LastModified); err == nil {
		e.Time = t
	}
	for name, value := range map[string]string{"etag": o.ETag, "class": o.StorageClass} {
		if value != "" && len(value) < 256 {
			e.Extra[name] = value
		}
	}
	if strings.HasSuffix(o.Key, "/") { // its URL would be a listing
		e.Kind = fetch.Info
		return e
	}
	l.setURL(&e, o.Key)
	return e
}

// setURL sets the URL of an entry. An entry outside of the prefix, and a key that
// the server could not represent in XML, has no URL. Neither has a key with the
// segment "." or "..", because programs remove such segments from a URL.
func (l *listing) setURL(e *fetch.Entry, key string) {
	err := errors.New("no URL")
	if strings.HasPrefix(key, l.where.key) && utf8.ValidString(key) && !strings.ContainsRune(key, utf8.RuneError) && !hasDots(key) && len(key) <= maxKey {
		e.URL, err = uri.Parse("s3://" + l.where.bucket + "/" + awssign.EncodePath(key))
	}
	if err != nil {
		e.Kind = fetch.Info
	}
}

func hasDots(key string) bool {
	for segment := range strings.SplitSeq(key, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}
