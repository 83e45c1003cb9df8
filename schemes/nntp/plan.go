package nntp

import (
	"strconv"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// plan tells the commands for req. QUIT comes when the session has been idle.
func (o Options) plan(req *fetch.Request, implicit bool) ([]fetch.Step, error) {
	l, err := o.locate(req)
	if err != nil {
		return nil, err
	}
	steps := []fetch.Step{{Verb: "CAPABILITIES", Else: "MODE READER"}}
	if !implicit && o.TLS != fetch.TLSNever && (o.TLS != fetch.TLSDefault || req.Auth != nil) {
		steps = append(steps, fetch.Step{Verb: "STARTTLS"})
	}
	if req.Auth != nil {
		steps = append(steps, fetch.Step{Verb: "AUTHINFO USER", Arg: req.Auth.User, Else: "AUTHINFO SASL PLAIN"},
			fetch.Step{Verb: "AUTHINFO PASS", Secret: true})
	}
	return append(steps, o.actions(l, req)...), nil
}

// locate reads the URL of req, and refuses options that are none.
func (o Options) locate(req *fetch.Request) (locator, error) {
	if o.Field != "" && !isField(o.Field) {
		return locator{}, fetch.Usage.Errorf("not the name of a header field: %q", o.Field)
	}
	return locate(req.URL)
}

// actions are the commands that bring what l names.
func (o Options) actions(l locator, req *fetch.Request) []fetch.Step {
	op, numbers := req.Op, l.numbers()
	view := o.viewOf(l, op)
	switch {
	case l.kind == ofGroups && op == fetch.Stat:
		return nil
	case l.kind == ofGroups:
		return []fetch.Step{o.listStep(l, req.Since)}
	case l.kind == byID:
		return []fetch.Step{{Verb: view.verb(), Arg: l.id}}
	case o.asksNews(l, req):
		return []fetch.Step{{Verb: "NEWNEWS", Arg: l.group + " " + moment(req.Since, true), Else: "OVER"}}
	}
	steps := []fetch.Step{{Verb: "GROUP", Arg: l.group}}
	switch {
	case op == fetch.Stat && l.kind != byNumber:
		return steps
	case view == Overview && o.Field != "":
		return append(steps, fetch.Step{Verb: "HDR", Arg: o.Field + " " + numbers, Else: "XHDR"})
	case view == Overview:
		return append(steps, fetch.Step{Verb: "LIST OVERVIEW.FMT"}, fetch.Step{Verb: "OVER", Arg: numbers, Else: "XOVER"})
	case l.kind == byNumber:
		return append(steps, fetch.Step{Verb: view.verb(), Arg: numbers})
	}
	return append(steps, fetch.Step{Verb: "LISTGROUP", Arg: l.group + " " + numbers}, fetch.Step{Verb: view.verb(), Arg: "each"})
}

func (o Options) listStep(l locator, since time.Time) fetch.Step {
	switch {
	case !since.IsZero():
		return fetch.Step{Verb: "NEWGROUPS", Arg: moment(since, true)}
	case o.Describe:
		return fetch.Step{Verb: "LIST NEWSGROUPS", Arg: l.wildmat}
	}
	return fetch.Step{Verb: "LIST ACTIVE", Arg: l.wildmat, Else: "LIST"}
}

// asksNews reports whether only what is new by time is wanted of a group.
func (o Options) asksNews(l locator, req *fetch.Request) bool {
	return req.Op == fetch.Get && l.kind == ofGroup && !req.Since.IsZero() && o.viewOf(l, req.Op) == Overview
}

// moment writes a time as NEWGROUPS and NEWNEWS take it: RFC 977 has two
// digits for the year.
func moment(t time.Time, modern bool) string {
	if modern {
		return t.UTC().Format("20060102 150405 GMT")
	}
	return t.UTC().Format("060102 150405 GMT")
}

// viewOf settles what Whole means: a Stat wants heads, a group is a listing.
func (o Options) viewOf(l locator, op fetch.Op) View {
	switch {
	case op == fetch.Stat:
		return Head
	case l.kind == ofGroup && o.View != Articles:
		return Overview
	}
	return o.View
}

// verb is the command that brings this view of an article. An overview of one
// that is named by its message-id is made of its head: few servers have OVER
// for those.
func (v View) verb() string {
	switch v {
	case Head, Overview:
		return "HEAD"
	case Body:
		return "BODY"
	}
	return "ARTICLE"
}

// numbers writes the range of l as commands take it.
func (l locator) numbers() string {
	first := strconv.FormatUint(l.first, 10)
	switch l.last {
	case l.first:
		return first
	case endless:
		return first + "-"
	}
	return first + "-" + strconv.FormatUint(l.last, 10)
}
