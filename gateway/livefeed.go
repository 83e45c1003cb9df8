package gateway

import (
	"cmp"
	"encoding/xml"
	"net/http"
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
)

// maxFeedRead is the maximum number of entries of a listing that a feed compares.
const maxFeedRead = 10_000

// feedPath returns the path of the feed of a listing. It has no signature, so that
// it is the same after a restart. The policy treats its requests as requests of
// an unknown page.
func (t liveTarget) feedPath(base string) string {
	return liveTarget{url: t.url.WithoutUserinfo(), feed: true}.path(base, "")
}

// liveFeed sends an Atom feed of the newest entries of a listing, such as a
// newsgroup or a directory. Entries without a time come last.
func (x *exchange) liveFeed(t liveTarget, resp *fetch.Response) {
	scheme := x.scheme(t.url.Scheme())
	if resp.Kind != fetch.Menu || scheme.Menu == nil {
		x.fail(http.StatusBadRequest, "There is no feed of this URL", "A feed shows the entries of a listing, such as a newsgroup or a directory.")
		return
	}
	var newest []fetch.Entry
	read := 0
	for e, err := range scheme.Menu(t.url, resp.Media, resp.Body) {
		if read++; err != nil || x.r.Context().Err() != nil || read > maxFeedRead {
			break
		}
		if e.URL.IsZero() || e.Kind == fetch.Info {
			continue
		}
		at, _ := slices.BinarySearchFunc(newest, e, func(a, b fetch.Entry) int { return cmp.Or(b.Time.Compare(a.Time), -1) })
		if at < maxFeed {
			e.Raw, e.Extra = "", nil // can be large
			newest = slices.Insert(newest, at, e)
			newest = newest[:min(len(newest), maxFeed)]
		}
	}
	self := x.absolute(t.feedPath(x.base))
	f := atomFeed{ID: self, Title: tty.Escape(t.url.WithoutUserinfo().String()), Author: "fetch", Link: atomLink{Href: self, Rel: "self"}}
	for _, e := range newest {
		u := e.URL.WithoutUserinfo()
		f.Entries = append(f.Entries, atomEntry{
			ID: tty.Escape(u.String()), Title: tty.Escape(cmp.Or(e.Name, u.String())), Updated: atomTime(e.Time),
			Link: atomLink{Href: x.absolute(liveTarget{url: u}.path(x.base, ""))},
		})
	}
	f.Updated = atomTime(time.Time{})
	if len(newest) > 0 {
		f.Updated = atomTime(newest[0].Time)
	}
	x.w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	x.w.Write([]byte(xml.Header))
	xml.NewEncoder(x.w).Encode(f) // an error means that the client closed the connection
}

// atomTime returns a date in the format of Atom, which requires one. An unknown
// date is the start of 1970.
func atomTime(t time.Time) string {
	if t.IsZero() {
		t = time.Unix(0, 0)
	}
	return t.UTC().Format(time.RFC3339)
}
