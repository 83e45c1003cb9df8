package prospero

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/wire/prospero/message"
)

// A request is one message to a server: lines that consist of tokens.
type request [][]string

// newRequest returns a request with the given lines, after the lines that every
// request needs. It does not send the name of the user.
func newRequest(lines ...[]string) request {
	return append(request{
		{"VERSION", "5", "fetch"},
		{"AUTHENTICATE", "", "UNAUTHENTICATED", "anonymous"},
	}, lines...)
}

func (r request) text() (text []byte, err error) {
	for _, tokens := range r {
		if text, err = message.AppendLine(text, tokens...); err != nil {
			return nil, fetch.BadURL.With(err)
		}
	}
	return text, nil
}

// list returns a request for the links of a directory.
func (l locator) list() request {
	return newRequest(l.directory(), []string{"LIST", "ATTRIBUTES", "COMPONENTS"})
}

func (l locator) directory() []string {
	line := []string{"DIRECTORY", "ASCII", l.name}
	if l.version != "" {
		line = append(line, l.version)
	}
	return line
}

// info returns a request for the attributes of an object.
func (l locator) info(attributes string) request {
	return newRequest([]string{"GET-OBJECT-INFO", attributes, "ASCII", l.name, l.number()})
}

// linkIn returns a request for one link of a directory.
func linkIn(dir, name string) request {
	return newRequest([]string{"DIRECTORY", "ASCII", dir}, []string{"LIST", "ATTRIBUTES", "COMPONENTS", name})
}

// plan returns the first request for a URL. If the name is not a directory, the
// driver then requests the object, and last the link in the parent directory.
func plan(req *fetch.Request) ([]scheme.Step, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	r, otherwise := l.list(), "GET-OBJECT-INFO"
	if req.Op == fetch.Stat {
		if r, otherwise = l.info(everything), "LIST"; l.isArchie() {
			return nil, nil
		}
	}
	var steps []scheme.Step
	for _, tokens := range r {
		line, err := message.AppendLine(nil, tokens...)
		if err != nil {
			return nil, fetch.BadURL.With(err)
		}
		verb, arg, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		steps = append(steps, scheme.Step{Verb: verb, Arg: arg})
	}
	if !l.isArchie() {
		steps[len(steps)-1].Else = otherwise
	}
	return steps, nil
}
