package nntp

import (
	"strconv"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
)

// plan returns the commands that the driver sends for req. It omits QUIT, which
// the driver sends after the idle timeout.
func (o Options) plan(req *fetch.Request, implicit bool) ([]scheme.Step, error) {
	l, err := o.parseURL(req)
	if err != nil {
		return nil, err
	}
	steps := []scheme.Step{{Verb: "CAPABILITIES", Else: "MODE READER"}}
	if !implicit && o.TLS != scheme.TLSNever && (o.TLS != scheme.TLSDefault || req.Auth != nil) {
		steps = append(steps, scheme.Step{Verb: "STARTTLS"})
	}
	if req.Auth != nil {
		steps = append(steps, scheme.Step{Verb: "AUTHINFO USER", Arg: req.Auth.User, Else: "AUTHINFO SASL PLAIN"},
			scheme.Step{Verb: "AUTHINFO PASS", Secret: true})
	}
	return append(steps, o.commandSteps(l, req)...), nil
}

// parseURL parses the URL of req. It returns an error if Options.Field is not a
// valid field name.
func (o Options) parseURL(req *fetch.Request) (locator, error) {
	if o.Field != "" && !isField(o.Field) {
		return locator{}, fetch.Usage.Errorf("invalid header field name: %q", o.Field)
	}
	return parseLocator(req.URL)
}

// commandSteps returns the commands that retrieve an article, a range of
// articles or a listing.
func (o Options) commandSteps(l locator, req *fetch.Request) []scheme.Step {
	op, numbers := req.Op, l.rangeText()
	view := o.viewOf(l, op)
	switch {
	case l.kind == kindGroupList && op == fetch.Stat:
		return nil
	case l.kind == kindGroupList:
		return []scheme.Step{o.listStep(l, req.Since)}
	case l.kind == kindMessageID:
		return []scheme.Step{{Verb: view.verb(), Arg: l.id}}
	case o.listsNewArticles(l, req):
		return []scheme.Step{{Verb: "NEWNEWS", Arg: l.group + " " + formatTime(req.Since, true), Else: "OVER"}}
	}
	steps := []scheme.Step{{Verb: "GROUP", Arg: l.group}}
	switch {
	case op == fetch.Stat && l.kind != kindNumber:
		return steps
	case view == Overview && o.Field != "":
		return append(steps, scheme.Step{Verb: "HDR", Arg: o.Field + " " + numbers, Else: "XHDR"})
	case view == Overview:
		return append(steps, scheme.Step{Verb: "LIST OVERVIEW.FMT"},
			scheme.Step{Verb: "OVER", Arg: numbers, Else: "XOVER"})
	case l.kind == kindNumber:
		return append(steps, scheme.Step{Verb: view.verb(), Arg: numbers})
	}
	return append(steps, scheme.Step{Verb: "LISTGROUP", Arg: l.group + " " + numbers},
		scheme.Step{Verb: view.verb(), Arg: "each"})
}

func (o Options) listStep(l locator, since time.Time) scheme.Step {
	switch {
	case !since.IsZero():
		return scheme.Step{Verb: "NEWGROUPS", Arg: formatTime(since, true)}
	case o.Describe:
		return scheme.Step{Verb: "LIST NEWSGROUPS", Arg: l.wildmat}
	}
	return scheme.Step{Verb: "LIST ACTIVE", Arg: l.wildmat, Else: "LIST"}
}

// listsNewArticles reports whether req lists the articles of a group that are
// newer than Request.Since.
func (o Options) listsNewArticles(l locator, req *fetch.Request) bool {
	return req.Op == fetch.Get && l.kind == kindGroup && !req.Since.IsZero() && o.viewOf(l, req.Op) == Overview
}

// formatTime formats t as an argument of NEWGROUPS and NEWNEWS. If rfc3977 is
// false, the year has two digits (RFC 977).
func formatTime(t time.Time, rfc3977 bool) string {
	if rfc3977 {
		return t.UTC().Format("20060102 150405 GMT")
	}
	return t.UTC().Format("060102 150405 GMT")
}

// viewOf returns the View for a request with the locator l. The view is Head
// for a Stat request. For a group, it is Overview unless Options.View is
// Articles.
func (o Options) viewOf(l locator, op fetch.Op) View {
	switch {
	case op == fetch.Stat:
		return Head
	case l.kind == kindGroup && o.View != Articles:
		return Overview
	}
	return o.View
}

// verb returns the command that retrieves an article in the view v. For an
// overview by message-id, it returns HEAD, because few servers support OVER
// with a message-id.
func (v View) verb() string {
	switch v {
	case Head, Overview:
		return "HEAD"
	case Body:
		return "BODY"
	}
	return "ARTICLE"
}

// rangeText returns a range of article numbers as a command argument, such as
// "7", "7-20" or "7-".
func (l locator) rangeText() string {
	first := strconv.FormatUint(l.first, 10)
	switch l.last {
	case l.first:
		return first
	case maxNumber:
		return first + "-"
	}
	return first + "-" + strconv.FormatUint(l.last, 10)
}
