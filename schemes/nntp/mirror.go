package nntp

import (
	"strings"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

// mirrorRules returns the rules for mirroring URLs. The parameter isNews is true
// for the schemes news and snews. Their articles are immutable, because the URLs
// contain a message-id.
func mirrorRules(isNews bool) scheme.Mirroring {
	m := scheme.Mirroring{Record: scheme.RecordReplies, Article: articleURLs, Files: scheme.FileNames{Listing: ".overview"}}
	if isNews {
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

// isPermanent reports whether u contains a message-id, so that u always names
// the same article.
func isPermanent(u uri.URI) bool { return strings.Contains(u.Path(), "@") }

// mirrorScope returns the URL prefix that limits a mirror run of u. If u is a
// list of groups, such as "news:comp.*", the prefix is the URL of the server. The
// URLs of the groups share only this prefix. Otherwise the prefix is u.
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

// articleURLs returns two URLs of an article, one with its message-id and one
// with its number. Mirrors store articles by message-id, because numbers differ
// between servers and a cross-posted article has several numbers.
func articleURLs(group, entry uri.URI, extra map[string]string) (byID uri.URI, number string, ok bool) {
	id := strings.Trim(extra["message_id"], "<>")
	host := group.Host()
	if id == "" || host == "" {
		return uri.URI{}, "", false
	}
	if port, ok := group.Port(); ok {
		host += ":" + port
	}
	scheme := "news"
	if s := entry.Scheme(); s == "snews" || s == "nntps" {
		scheme = "snews"
	}
	byID, err := uri.Parse(scheme + "://" + host + "/" + uri.Escape(id, uri.Segment))
	return byID, numberURL(group, entry, extra["number"]), err == nil && isPermanent(byID)
}

// numberURL returns the URL of an article with its number in a newsgroup. The
// parameter entry is the URL of the article in the listing of the newsgroup.
func numberURL(group, entry uri.URI, number string) string {
	text := group.Unredacted()
	switch scheme, rest, _ := strings.Cut(text, "://"); scheme {
	case "news":
		text = "nntp://" + rest
	case "snews":
		text = "nntps://" + rest
	default:
		return entry.Unredacted()
	}
	return strings.TrimSuffix(text, "/") + "/" + number
}

// messageURL returns the news or snews URL of an article or a newsgroup on the
// server of u.
func messageURL(u uri.URI, id string, implicit bool) (uri.URI, error) {
	p := u.Parts()
	to := uri.Parts{Scheme: "news", Host: p.Host, Port: p.Port, HasAuthority: p.HasAuthority, HasPort: p.HasPort,
		Path: uri.Escape(id, uri.Segment)}
	if implicit {
		to.Scheme = "snews"
	}
	if to.HasAuthority {
		to.Path = "/" + to.Path
	}
	return uri.Build(to)
}
