package warc

import (
	"cmp"
	"context"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// Limits for the index lines that similar reads.
const (
	maxSimilar      = 5000
	maxSimilarBytes = 4 << 20 // of their keys
)

// similar returns the index line that answers req if no line has its key. It has
// the same method, path and names of parameters, and as many equal values of
// parameters as possible. Of lines with as many equal values, it is the nearest
// to Archive.Time. The parameters include those in the body of a request.
func (a *Archive) similar(ctx context.Context, req *fetch.Request) (best Line, ok bool, err error) {
	s, err := summarize(req)
	l := Line{URL: targetURI(req.URL)}
	key := escape(Key(l.URL), " ")
	if s.hasOwnKey() {
		l.addRequest(&s)
		key = l.Key
	}
	path, query, parameters := strings.Cut(key, "?")
	if err != nil || !parameters {
		return best, false, err
	}
	want := strings.Split(query, "&")
	near, most, read, size := nearest{Archive: a}, -1, 0, 0
	for l, err := range a.lookupPrefix(path + "?" + nameOf(want[0])) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return best, false, err
		}
		read, size = read+1, size+len(l.Key)
		if read > maxSimilar || size > maxSimilarBytes {
			break
		}
		_, query, _ := strings.Cut(l.Key, "?")
		if strings.Count(query, "&") != len(want)-1 {
			continue
		}
		equal := equalParameters(want, strings.Split(query, "&"))
		if equal > most || equal == most && equal >= 0 && near.compare(l, best) < 0 {
			best, most, ok = l, equal, true
		}
	}
	return best, ok, nil
}

// nameOf returns the name of a parameter with the "=" after it, if any.
func nameOf(parameter string) string {
	name, _, ok := strings.Cut(parameter, "=")
	if ok {
		name += "="
	}
	return name
}

// equalParameters returns how many parameters in two sorted lists have the same
// values. It returns -1 if the names or the methods of the requests differ.
func equalParameters(x, y []string) (equal int) {
	if len(x) != len(y) {
		return -1
	}
	for i := range x {
		same := x[i] == y[i]
		if nameOf(x[i]) != nameOf(y[i]) || !same && nameOf(x[i]) == methodKey {
			return -1
		}
		if same {
			equal++
		}
	}
	return equal
}
