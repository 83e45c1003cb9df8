package nntp

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// mirroring returns the rules for newsgroups. In URLs of news and snews,
// articles have a message-id, which lasts.
func mirrorRules(name string) fetch.Mirroring {
	m := fetch.Mirroring{Record: fetch.RecordReplies, Talk: "nntp", Article: articleURLs}
	if name == "news" || name == "snews" {
		m.Immutable = isPermanent
	}
	m.Subtree = func(u uri.URI) (uri.URI, bool) {
		if m.Immutable != nil && m.Immutable(u) {
			return u, true
		}
		return mirrorScope(u), true
	}
	return m
}

// lasting reports whether u names an article by its message-id.
func isPermanent(u uri.URI) bool { return strings.Contains(u.Path(), "@") }

// below returns the server of a list of groups, "news:comp.*", and otherwise u:
// the groups of a list have no prefix but the server.
func mirrorScope(u uri.URI) uri.URI {
	pattern, err := uri.Unescape(u.Path())
	if _, ok := u.Query(); err != nil || !ok && !strings.ContainsAny(pattern, "*!,") {
		return u
	}
	path := ""
	if u.HasAuthority() {
		path = "/"
	}
	root, err := u.WithoutQuery().WithPath(path)
	if err != nil {
		return u
	}
	return root
}

// article returns the URL of an article by its message-id, because numbers are
// the server's, and cross-posts have several.
func articleURLs(group uri.URI, e fetch.Entry) (byID uri.URI, number string, ok bool) {
	id := strings.Trim(e.Extra["message_id"], "<>")
	host := group.Host()
	if id == "" || host == "" {
		return uri.URI{}, "", false
	}
	if port, ok := group.Port(); ok {
		host += ":" + port
	}
	scheme := "news"
	if s := e.URL.Scheme(); s == "snews" || s == "nntps" {
		scheme = "snews"
	}
	byID, err := uri.Parse(scheme + "://" + host + "/" + uri.Escape(id, uri.Segment))
	return byID, numberURL(group, e), err == nil && isPermanent(byID)
}

// numbered returns the URL of an article by its number in group.
func numberURL(group uri.URI, e fetch.Entry) string {
	text := group.Unredacted()
	switch scheme, rest, _ := strings.Cut(text, "://"); scheme {
	case "news":
		text = "nntp://" + rest
	case "snews":
		text = "nntps://" + rest
	default:
		return e.URL.Unredacted()
	}
	return strings.TrimSuffix(text, "/") + "/" + e.Extra["number"]
}
