package replay

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// A query describes the capture that answers a request.
type query struct {
	request *fetch.Request
	time    time.Time // the nearest capture is selected; zero selects the latest one
}

// find returns the capture of a URL. If there is none, find returns the capture
// of a similar URL: one with the same path and the same names of parameters. The
// values of parameters such as the current time differ in each visit of a page.
// The driver of an archive has no access to a network.
func find(ctx context.Context, a *warc.Archive, q query) (*fetch.Response, error) {
	source := *a // the copy shares the files
	source.Time, source.Until, source.Decode, source.Raw = q.time, q.time, true, false
	driver := source.Schemes(fetch.Scheme{Name: q.request.URL.Scheme()})[0].Open(fetch.Env{})
	resp, err := driver.Do(ctx, q.request)
	if fetch.FaultOf(err) != fetch.NotFound {
		return resp, err
	}
	l, ok, other := similar(ctx, a, q)
	if !ok || other != nil {
		return nil, cmp.Or(other, err)
	}
	u, parsed := uri.Parse(l.URL)
	if parsed != nil {
		return nil, err
	}
	req := q.request.Clone()
	req.URL = u
	return source.Replay(ctx, req, l)
}

// maxSimilar is the maximum number of index lines that similar reads.
const maxSimilar = 5000

// similar returns the index line of the capture whose URL differs from that of q
// only in the values of parameters. It prefers the URL with the most equal
// values, and of equal URLs the capture nearest to the time of q.
func similar(ctx context.Context, a *warc.Archive, q query) (best warc.Line, ok bool, err error) {
	want := parametersOf(q.request.URL)
	if len(want) == 0 {
		return best, false, nil
	}
	prefix := q.request.URL.WithoutQuery().WithoutFragment().Unredacted() + "?" + nameOf(want[0])
	read, bestEqual, bestDistance := 0, -1, time.Duration(0)
	for l, err := range a.Search(prefix, 0) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return best, false, err
		}
		if read++; read > maxSimilar {
			break
		}
		u, err := uri.Parse(l.URL)
		if err != nil || u.Path() != q.request.URL.Path() || strings.Contains(l.Key, "__wb_method=") {
			continue
		}
		equal, same := compareParameters(want, parametersOf(u))
		if !same {
			continue
		}
		distance := q.distance(l)
		if equal > bestEqual || equal == bestEqual && distance <= bestDistance {
			best, bestEqual, bestDistance, ok = l, equal, distance, true
		}
	}
	return best, ok, nil
}

// distance returns the time between the capture of l and that of q.
func (q query) distance(l warc.Line) time.Duration {
	at, err := time.Parse(timeForm, l.Timestamp)
	if err != nil || q.time.IsZero() {
		return 0 // the lines are sorted by time, so that the latest capture is found
	}
	return at.Sub(q.time).Abs()
}

// parametersOf returns the parameters in the query of a URL in the order of an
// index, which ignores case.
func parametersOf(u uri.URI) []string {
	query, _ := u.Query()
	if query == "" {
		return nil
	}
	list := strings.Split(query, "&")
	slices.SortFunc(list, func(x, y string) int {
		return cmp.Or(strings.Compare(strings.ToLower(x), strings.ToLower(y)), strings.Compare(x, y))
	})
	return list
}

// nameOf returns the name of a parameter with the "=" after it, if any.
func nameOf(parameter string) string {
	name, _, ok := strings.Cut(parameter, "=")
	if ok {
		name += "="
	}
	return name
}

// compareParameters reports whether two sorted lists have parameters with the
// same names, and how many of them have the same values.
func compareParameters(x, y []string) (equal int, same bool) {
	if len(x) != len(y) {
		return 0, false
	}
	for i := range x {
		if nameOf(x[i]) != nameOf(y[i]) {
			return 0, false
		}
		if x[i] == y[i] {
			equal++
		}
	}
	return equal, true
}
