package urn

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// A Template describes the URLs of the objects in a URN namespace. The zero
// Template is not valid.
type Template struct {
	nid    string // namespace, in lower case
	prefix string // prefix of the names to which the template applies, in lower case
	text   string
	server string // host:port
}

// ParseTemplate parses text of the form NID=URL. The URL may contain {nss}, {r}
// and {q}, which are the name and the components of the URN. It may also contain
// {urn}, which is the URN without its components. They must follow the host.
func ParseTemplate(text string) (Template, error) {
	nid, to, ok := strings.Cut(text, "=")
	t := Template{nid: strings.ToLower(nid), text: to}
	if !ok || !validNID(t.nid) {
		return t, fetch.Usage.Errorf("a URN template has the form NAMESPACE=URL")
	}
	start, _, _ := strings.Cut(to, "{")
	u, err := uri.Parse(start)
	if err != nil || u.Host() == "" || !strings.HasPrefix(u.Path(), "/") || !isTarget(u.Scheme()) {
		return t, fetch.Usage.Errorf("the URL of a URN template must start with a host and a path, such as http://HOST/uri-res/N2L?{urn}")
	}
	port, _ := uri.DefaultPort(u.Scheme())
	target, err := fetch.TargetOf(u, port)
	if err != nil {
		return t, fetch.Usage.Errorf("the URL of a URN template is invalid: %w", err)
	}
	t.server = target.Address()
	if _, _, err := t.expand(name{nid: t.nid, nss: "x", q: "x", r: "x"}); err != nil {
		return t, fetch.Usage.Errorf("the URL of a URN template is invalid: %w", err)
	}
	return t, nil
}

func isTarget(scheme string) bool {
	return slices.Contains(targets, scheme)
}

// expand inserts n into the template and returns the resulting URL. It returns
// false if the template does not apply to n. If the template has no {q}, the
// q-component becomes the query of the URL.
func (t Template) expand(n name) (u uri.URI, ok bool, err error) {
	rest, ok := textform.CutPrefixFold(n.nss, t.prefix)
	if n.nid != t.nid || !ok || rest == "" {
		return u, false, nil
	}
	path, query, hasQuery := strings.Cut(t.text, "?")
	values := []string{"{urn}", "urn:" + n.nid + ":" + n.nss, "{r}", n.r, "{q}", n.q}
	text := strings.NewReplacer(append(values, "{nss}", rest)...).Replace(path)
	switch {
	case hasQuery:
		text += "?" + strings.NewReplacer(append(values, "{nss}", escapeValue(rest))...).Replace(query)
	case n.q != "" && !strings.Contains(t.text, "{q}"):
		text += "?" + n.q
	}
	if u, err = uri.Parse(text); err != nil {
		return u, false, fetch.BadURL.Errorf("the template for the URN does not result in a URL: %w", err)
	}
	return u, true, nil
}

// escapeValue encodes the characters of s that separate the parameters of a
// query. Other characters, including "%", are unchanged.
func escapeValue(s string) string {
	return strings.NewReplacer("&", "%26", "+", "%2B", ";", "%3B", "=", "%3D").Replace(s)
}

// known lists the built-in templates, for namespaces with stable resolvers.
var known = []Template{
	{nid: "ietf", prefix: "rfc:", text: "https://www.rfc-editor.org/rfc/rfc{nss}.txt"}, // RFC 2648
	{nid: "ietf", prefix: "std:", text: "https://www.rfc-editor.org/std/std{nss}.txt"},
	{nid: "ietf", prefix: "bcp:", text: "https://www.rfc-editor.org/bcp/bcp{nss}.txt"},
	{nid: "ietf", prefix: "fyi:", text: "https://www.rfc-editor.org/fyi/fyi{nss}.txt"},
	{nid: "ietf", prefix: "id:", text: "https://www.ietf.org/archive/id/draft-{nss}.txt"},
	{nid: "nbn", prefix: "de:", text: "https://nbn-resolving.org/{urn}"}, // RFC 8458
	{nid: "nbn", prefix: "fi:", text: "https://urn.fi/{urn}"},
	{nid: "nbn", prefix: "se:", text: "https://urn.kb.se/resolve?urn={urn}"},
}
