package gopher

import "github.com/anyurl/fetch/fetch"

// plan tells the lines that are sent, each over a connection of its own: verb
// "send", and "form" for the data behind a line.
func (o Options) plan(req *fetch.Request) ([]fetch.Step, error) {
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
		return steps(l.with(askAll)), nil
	case l.item == '2':
		return []fetch.Step{{Verb: "send", Arg: "query " + l.words}, {Verb: "send", Arg: "quit"}}, nil
	case l.plus.verb == '?':
		return append(steps(l.with(askAll)), steps(l.with(command{verb: '+', filled: true}))...), nil
	case l.plus.choose:
		return append(steps(l.with(askAll)), fetch.Step{Verb: "send", Arg: l.line() + "VIEW"}), nil
	}
	return steps(l), nil
}

func steps(l locator) []fetch.Step {
	s := []fetch.Step{{Verb: "send", Arg: l.line()}}
	if l.plus.filled {
		s = append(s, fetch.Step{Verb: "form", Arg: l.plus.form.arg(), Secret: l.plus.form == nil})
	}
	return s
}

// locate reads the URL of req under these options, and refuses what it cannot
// bring.
func (o Options) locate(req *fetch.Request) (locator, error) {
	l, err := locate(req.URL)
	if err != nil || !l.link.IsZero() {
		return l, err
	}
	c := l.plus
	if (c.filled || c.verb == '?') && req.Op == fetch.Get && !req.Typed() {
		return l, fetch.BadReferral.With(&fetch.Refusal{Rule: "a server led to a form, which only a person may send"})
	}
	if (o.View != "" || o.Lang != "") && l.item != '2' && (c.verb == 0 || c == command{verb: '+'}) {
		l.plus = command{verb: '+', choose: true}
	}
	if typeOf(l.item).kind == fetch.Index && l.words == "" && req.Op == fetch.Get && c.verb != '!' && c.verb != '$' {
		return l, fetch.NeedQuery.Errorf("index asked without words")
	}
	return l, nil
}

func (l locator) with(c command) locator {
	l.plus = c
	return l
}
