package warc

import (
	"cmp"
	"context"
	"io"
	"iter"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/outgoing"
)

// keyOfRequest returns the key of the response to a request with another method
// than GET. The result ok is false for a request with the method GET or HEAD.
func keyOfRequest(req *fetch.Request) (key string, ok bool, err error) {
	m := req.Outgoing
	if m == nil || m.Method == "GET" || m.Method == "HEAD" {
		return "", false, nil
	}
	s := requestSummary{method: m.Method, media: req.Header.Get("Content-Type")}
	if s.body, err = readOutgoing(m); err != nil {
		return "", false, err
	}
	l := Line{URL: targetURI(req.URL)}
	l.addRequest(&s)
	return l.Key, true, nil
}

// readOutgoing returns the start of the body of a request.
func readOutgoing(m *outgoing.Message) (string, error) {
	if m.Open == nil {
		return "", nil
	}
	body, err := m.Open()
	if err != nil {
		return "", fetch.LocalError(err)
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxRequest))
	return string(text), fetch.LocalError(err)
}

// linesOfRequest returns the index lines of the captures that answer req.
func (a *Archive) linesOfRequest(req *fetch.Request) iter.Seq2[Line, error] {
	key, ok, err := keyOfRequest(req)
	switch {
	case err != nil:
		return func(yield func(Line, error) bool) { yield(Line{}, err) }
	case ok:
		return byPosition(a.lookupPrefix(key + " "))
	}
	return a.linesOf(req.URL)
}

// maxSimilar is the maximum number of index lines that similar reads.
const maxSimilar = 5000

// similar returns the index line that answers req if no line has its key. It has
// the same method, path and names of parameters, and as many equal values of
// parameters as possible. Of lines with as many equal values, it is the nearest
// to Archive.Time. The parameters include those in the body of a request.
func (a *Archive) similar(ctx context.Context, req *fetch.Request) (best Line, ok bool, err error) {
	key, other, err := keyOfRequest(req)
	if !other {
		key = escape(Key(targetURI(req.URL)), " ")
	}
	path, query, parameters := strings.Cut(key, "?")
	if err != nil || !parameters {
		return best, false, err
	}
	want := strings.Split(query, "&")
	near, most, read := nearest{Archive: a}, -1, 0
	for l, err := range a.lookupPrefix(path + "?" + nameOf(want[0])) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return best, false, err
		}
		if read++; read > maxSimilar {
			break
		}
		_, query, _ := strings.Cut(l.Key, "?")
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
