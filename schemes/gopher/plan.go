package gopher

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
)

// plan returns the request lines that the driver sends for req, each over a
// separate connection. A Step has the verb "send" for a request line and "form"
// for the form data after a request line.
func (o Options) plan(req *fetch.Request) ([]scheme.Step, error) {
	l, err := o.locate(req)
	switch {
	case err != nil:
		return nil, err
	case !l.link.IsZero():
		return nil, nil
	case req.Op == fetch.Stat:
		if l.plus.verb == 0 {
			return nil, nil
		}
		return steps(l.withCommand(allAttributes)), nil
	case l.item == '2':
		return []scheme.Step{{Verb: "send", Arg: "query " + l.words}, {Verb: "send", Arg: "quit"}}, nil
	case l.plus.verb == '?':
		form := l.withCommand(command{verb: '+', hasForm: true})
		return append(steps(l.withCommand(allAttributes)), steps(form)...), nil
	case l.plus.viewNeeded:
		return append(steps(l.withCommand(allAttributes)), scheme.Step{Verb: "send", Arg: l.requestLine() + "VIEW"}), nil
	}
	return steps(l), nil
}

func steps(l locator) []scheme.Step {
	s := []scheme.Step{{Verb: "send", Arg: l.requestLine()}}
	if l.plus.hasForm {
		s = append(s, scheme.Step{Verb: "form", Arg: l.plus.form.StepArg(), Secret: l.plus.form == nil})
	}
	return s
}

// locate parses the URL of req and adds the Gopher+ view that the Options
// select. It returns an error for a URL that cannot be fetched.
func (o Options) locate(req *fetch.Request) (locator, error) {
	l, err := locate(req.URL)
	if err != nil || !l.link.IsZero() {
		return l, err
	}
	c := l.plus
	if (c.hasForm || c.verb == '?') && req.Op == fetch.Get && !req.Typed() {
		return l, fetch.BadReferral.With(&fetch.Refusal{Rule: "only the user may submit a form, not a link or redirect"})
	}
	if (o.View != "" || o.Lang != "") && l.item != '2' && (c.verb == 0 || c == command{verb: '+'}) {
		l.plus = command{verb: '+', viewNeeded: true}
	}
	if typeOf(l.item).kind == fetch.Index && l.words == "" && req.Op == fetch.Get && c.verb != '!' && c.verb != '$' {
		return l, fetch.NeedQuery.Errorf("search index requires search words")
	}
	return l, nil
}

func (l locator) withCommand(c command) locator {
	l.plus = c
	return l
}
