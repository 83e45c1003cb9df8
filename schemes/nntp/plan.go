package nntp

import (
	"strconv"

	"github.com/anyurl/fetch/fetch"
)

// plan tells the commands for req. QUIT comes when the session has been idle.
func (o Options) plan(req *fetch.Request, implicit bool) ([]fetch.Step, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	steps := []fetch.Step{{Verb: "CAPABILITIES", Else: "MODE READER"}}
	if !implicit && (o.TLS != TLSForPassword || req.Auth != nil) {
		steps = append(steps, fetch.Step{Verb: "STARTTLS"})
	}
	if req.Auth != nil {
		steps = append(steps, fetch.Step{Verb: "AUTHINFO USER", Arg: req.Auth.User, Else: "AUTHINFO SASL PLAIN"},
			fetch.Step{Verb: "AUTHINFO PASS", Secret: true})
	}
	return append(steps, o.actions(l, req.Op)...), nil
}

// actions are the commands that bring what l names.
func (o Options) actions(l locator, op fetch.Op) []fetch.Step {
	group := fetch.Step{Verb: "GROUP", Arg: l.group}
	view := o.viewOf(l, op)
	switch l.kind {
	case ofGroups:
		if op == fetch.Stat {
			return nil
		}
		return []fetch.Step{{Verb: "LIST ACTIVE", Arg: l.wildmat, Else: "LIST"}}
	case byID:
		return []fetch.Step{{Verb: view.verb(), Arg: l.id}}
	}
	switch {
	case op == fetch.Stat && l.kind != byNumber:
		return []fetch.Step{group}
	case view == Overview:
		return []fetch.Step{group, {Verb: "LIST OVERVIEW.FMT"}, {Verb: "OVER", Arg: l.numbers(), Else: "XOVER"}}
	case l.kind == byNumber:
		return []fetch.Step{group, {Verb: view.verb(), Arg: l.numbers()}}
	}
	return []fetch.Step{group, {Verb: "LISTGROUP", Arg: l.group + " " + l.numbers()}, {Verb: view.verb(), Arg: "each"}}
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
