package gateway

import (
	"encoding/xml"
	"slices"
	"time"

	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/warc"
)

// maxFeed is the maximum number of captures in a feed.
const maxFeed = 50

// maxFeedURL is the maximum length of a URL in a feed in bytes. A line of a forged
// index can have a megabyte, and the statistics keep the newest captures.
const maxFeedURL = 64 << 10

// An atomFeed is a feed in the format Atom (RFC 4287).
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Link    atomLink    `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Href string `xml:"href,attr"`
	Rel  string `xml:"rel,attr,omitempty"`
}

type atomEntry struct {
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Link    atomLink `xml:"link"`
}

// feed sends an Atom feed of the newest captures of an archive.
func (x *exchange) feed(c *collection) {
	s, err := c.count(x.r.Context())
	if err != nil {
		x.failWith(500, "The index cannot be read", problemText(err), c, nil)
		return
	}
	f := atomFeed{
		ID: x.absolute(c.path), Title: "Captures of " + tty.Escape(c.Name), Updated: s.last.Format(time.RFC3339), Author: "fetch",
		Link: atomLink{Href: x.absolute(c.path + "?feed"), Rel: "self"},
	}
	for _, l := range s.newest {
		at, _ := parseTimestamp(l.Timestamp)
		path := x.absolute(c.path + l.Timestamp + "/" + l.URL)
		f.Entries = append(f.Entries, atomEntry{
			ID: tty.Escape(path), Title: tty.Escape(l.URL), Updated: at.Format(time.RFC3339), Link: atomLink{Href: tty.Escape(path)},
		})
	}
	x.w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	x.w.Write([]byte(xml.Header))
	xml.NewEncoder(x.w).Encode(f) // an error means that the client closed the connection
}

// keepNewest inserts a line into the newest captures, beginning with the newest.
func keepNewest(newest []warc.Line, l warc.Line) []warc.Line {
	if len(newest) == maxFeed && l.Timestamp <= newest[maxFeed-1].Timestamp {
		return newest
	}
	at, _ := slices.BinarySearchFunc(newest, l, func(a, b warc.Line) int {
		if a.Timestamp >= b.Timestamp {
			return -1
		}
		return 1
	})
	newest = slices.Insert(newest, at, l)
	return newest[:min(len(newest), maxFeed)]
}
