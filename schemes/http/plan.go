package http

import (
	"cmp"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/wire/http1"
)

func plan(req *fetch.Request, port uint16, opts *Options) ([]scheme.Step, error) {
	wr, err := newWireRequest(req, port, opts)
	if err != nil {
		return nil, err
	}
	return wr.steps(), nil
}

// steps returns the request line and the header fields in the order in which
// the driver sends them over HTTP/1.1. Host and User-Agent come first, and the
// other fields are sorted by name.
func (wr *wireRequest) steps() []scheme.Step {
	steps := []scheme.Step{
		{Verb: wr.method, Arg: cmp.Or(wr.redactedPath, wr.path) + wr.query + " HTTP/1.1"},
		{Verb: "Host:", Arg: wr.host},
	}
	for _, f := range sorted(wr.header) {
		if f.Value == "" && strings.EqualFold(f.Name, "User-Agent") {
			continue
		}
		steps = append(steps, scheme.Step{Verb: f.Name + ":", Arg: f.Value, Secret: http1.IsSecretField(f.Name)})
	}
	return steps
}
