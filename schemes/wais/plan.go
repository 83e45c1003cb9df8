package wais

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
)

// plan returns the requests for one connection, in order: "init" with the
// maximum response size, "search" with the database and words, and "retrieve"
// with the database, document and bounds. "retrieve" is repeated until the end
// of the document. A pooled connection skips "init".
func (o Options) plan(req *fetch.Request) ([]scheme.Step, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	switch {
	case l.search != nil:
		if req.Op == fetch.Stat {
			return nil, nil
		}
		arg := strings.TrimRight(l.database+" "+string(l.search.append(nil)), " ")
		return []scheme.Step{initStep(o.answerSize(l.search)), {Verb: "search", Arg: arg}}, nil
	case l.document == nil:
		if req.Op == fetch.Get {
			return nil, needQuery()
		}
		search := scheme.Step{Verb: "search", Arg: l.database}
		return []scheme.Step{initStep(usualSize), search, {Verb: "retrieve", Arg: l.database + " its description"}}, nil
	}
	r, err := l.part(req)
	if err != nil {
		return nil, err
	}
	if r.Start == r.End {
		return nil, nil
	}
	end := ""
	if r.End != unknown {
		end = strconv.FormatInt(r.End, 10)
	}
	arg := fmt.Sprintf("%s %s %s %d-%s", l.database, appendDocument(nil, *l.document), r.Unit, r.Start, end)
	return []scheme.Step{initStep(usualSize), {Verb: "retrieve", Arg: arg}}, nil
}

func initStep(size uint32) scheme.Step {
	return scheme.Step{Verb: "init", Arg: strconv.FormatUint(uint64(size), 10)}
}

func needQuery() error {
	return fetch.NeedQuery.Errorf("a database is an index and needs search words: add ?WORDS to the URL")
}
