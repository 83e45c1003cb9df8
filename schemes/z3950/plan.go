package z3950

import (
	"fmt"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
)

// plan returns the messages for one connection, in order: "init", "search" with
// the databases and the terms, and "present" with the position of the records.
// A pooled connection skips "init", and also "search" if the last search was
// the same.
func plan(req *fetch.Request) ([]scheme.Step, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	steps := []scheme.Step{{Verb: "init"}}
	if l.terms == nil {
		if req.Op == fetch.Get {
			return nil, needQuery()
		}
		return steps, nil
	}
	steps = append(steps, scheme.Step{Verb: "search", Arg: l.describe()})
	if req.Op == fetch.Stat && l.isListing(req.URL) {
		return steps, nil
	}
	first := "1"
	switch {
	case l.isListing(req.URL):
		first = "1-"
	case l.record != 0:
		first = fmt.Sprint(l.record)
	}
	return append(steps, scheme.Step{Verb: "present", Arg: first}), nil
}

// describe returns the databases and the terms as text.
func (l locator) describe() string {
	var terms []string
	for _, t := range l.terms {
		text := fmt.Sprintf("%q", t.Text)
		if t.Structure != 0 {
			text = fmt.Sprintf("@attr 4=%d %s", t.Structure, text)
		}
		if t.Use != 0 {
			text = fmt.Sprintf("@attr 1=%d %s", t.Use, text)
		}
		terms = append(terms, text)
	}
	return strings.Join(l.databases, "+") + " " + strings.Join(terms, " ")
}

func needQuery() error {
	return fetch.NeedQuery.Errorf("a database is an index and needs search words: add ?WORDS to the URL")
}
