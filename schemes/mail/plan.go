package mail

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
)

// plan returns the commands that the driver would send for req, without the
// final LOGOUT.
func (o Options) plan(req *fetch.Request, implicit bool) ([]scheme.Step, error) {
	if req.URL.Host() == "" { // without this check, mistyped credentials would be printed as a mailbox name
		return nil, fetch.BadURL.Errorf("no host")
	}
	l, err := parseLocator(req.URL)
	if err != nil {
		return nil, err
	}
	creds, err := credentialsOf(req, o.Mechanism)
	if err != nil {
		return nil, err
	}
	steps := []scheme.Step{{Verb: "CAPABILITY"}}
	if !implicit && o.TLS != scheme.TLSNever {
		steps = append(steps, scheme.Step{Verb: "STARTTLS"})
	}
	steps = append(steps, creds.step())
	if !o.Mbox || req.Op != fetch.Get || l.kind != kindMailbox && l.kind != kindSearch {
		return append(steps, commandSteps(l, req.Op)...), nil
	}
	l.searchAll()
	return append(append(steps, commandSteps(l, req.Op)...), scheme.Step{Verb: "UID FETCH", Arg: "each BODY.PEEK[]"}), nil
}

func (creds credentials) step() scheme.Step {
	switch {
	case creds.mechanism != "" && creds.mechanism != "*":
		return scheme.Step{Verb: "AUTHENTICATE " + creds.mechanism, Secret: true}
	case creds.auth == nil && creds.mechanism == "":
		return scheme.Step{Verb: "AUTHENTICATE ANONYMOUS", Else: "LOGIN"}
	}
	return scheme.Step{Verb: "AUTHENTICATE", Secret: true, Else: "LOGIN"}
}

// commandSteps returns the commands that follow the login and retrieve the
// object of the URL.
func commandSteps(l locator, op fetch.Op) []scheme.Step {
	stat := op == fetch.Stat
	if l.kind == kindServer {
		if stat {
			return nil
		}
		return []scheme.Step{{Verb: "LIST", Arg: `"" *`}}
	}
	steps := []scheme.Step{{Verb: "EXAMINE", Arg: l.mailbox}}
	switch {
	case l.kind == kindMessage:
		return append(steps, l.messageSteps(stat)...)
	case stat:
		return steps
	case l.kind == kindSearch:
		p, _ := parseProgram(l.search) // parseLocator has validated the program
		return append(steps, scheme.Step{Verb: "UID SEARCH", Arg: p.String()},
			scheme.Step{Verb: "UID FETCH", Arg: "found " + summaryItems})
	}
	return append(steps, scheme.Step{Verb: "UID FETCH", Arg: "1:* " + summaryItems})
}

func (l *locator) messageSteps(stat bool) (steps []scheme.Step) {
	fetches := func(items string) {
		steps = append(steps, scheme.Step{Verb: l.verb(), Arg: l.number() + " " + items})
	}
	if mime := mimeSection(l.section); mime != "" {
		fetches("BODY.PEEK[" + mime + "]")
	} else if stat {
		fetches("(RFC822.SIZE BODY.PEEK[HEADER])")
	}
	if !stat {
		fetches("BODY.PEEK[" + l.section + "]" + l.partialSpec(fetch.Range{}))
	}
	return steps
}
