package archive

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// IdentityRules decides which web URLs identify the same object. If only IsWeb
// is set, the rules ignore session identifiers in URLs.
type IdentityRules struct {
	// IsWeb reports whether a scheme is a scheme of the web. Its argument is the
	// name of the scheme. IsWeb is required.
	IsWeb func(scheme string) bool

	KeepSessions bool     // if true, URLs with different session identifiers identify different objects
	Ignored      []string // names of further parameters to ignore, in lower case
}

// KeyOf returns the frontier key of a URL, which must be in canonical form.
func (r *IdentityRules) KeyOf(text string) frontier.Key { return frontier.KeyOf(r.Identity(text)) }

// Identity removes session identifiers and ignored parameters from a URL in
// canonical form. It changes only web URLs. Session identifiers are
// path parameters such as ";jsessionid=X", path segments such as "(S(X))", and
// query parameters such as "PHPSESSID=X".
func (r *IdentityRules) Identity(text string) string {
	if scheme, _, ok := strings.Cut(text, ":"); !ok || !r.IsWeb(scheme) {
		return text
	}
	path, query, hasQuery := strings.Cut(text, "?")
	path = r.path(path)
	if !hasQuery {
		return path
	}
	reduced := r.query(query)
	if reduced == "" && query != "" {
		return path
	}
	return path + "?" + reduced
}

// path removes session identifiers and ignored parameters from the path of a
// URL.
func (r *IdentityRules) path(path string) string {
	if !strings.ContainsAny(path, ";(") {
		return path
	}
	segments := strings.Split(path, "/")
	kept := segments[:0]
	for i, segment := range segments {
		if i > 2 && !r.KeepSessions && isCookielessSegment(segment) {
			continue
		}
		parts := strings.Split(segment, ";")
		parts = append(parts[:1], slices.DeleteFunc(parts[1:], r.ignores)...)
		kept = append(kept, strings.Join(parts, ";"))
	}
	return strings.Join(kept, "/")
}

// query removes session identifiers and ignored parameters from a query.
func (r *IdentityRules) query(query string) string {
	parts := strings.Split(query, "&")
	kept := slices.DeleteFunc(slices.Clone(parts), r.ignores)
	if !r.KeepSessions && slices.ContainsFunc(kept, hasName("cfid")) && slices.ContainsFunc(kept, hasName("cftoken")) {
		kept = slices.DeleteFunc(kept, func(p string) bool { return hasName("cfid")(p) || hasName("cftoken")(p) })
	}
	if len(kept) == len(parts) {
		return query
	}
	return strings.Join(kept, "&")
}

func hasName(name string) func(parameter string) bool {
	return func(parameter string) bool {
		got, _, _ := strings.Cut(parameter, "=")
		return strings.EqualFold(got, name)
	}
}

// ignores reports whether the rules ignore a parameter of the form NAME=VALUE.
func (r *IdentityRules) ignores(parameter string) bool {
	name, value, _ := strings.Cut(parameter, "=")
	name = strings.ToLower(name)
	return slices.Contains(r.Ignored, name) || !r.KeepSessions && isSession(name, value)
}

// isSession reports whether a parameter contains a session identifier. The name
// must be in lower case. Names that sites also use for other purposes, such as
// "sid", count only if the value looks like an identifier.
func isSession(name, value string) bool {
	switch name {
	case "jsessionid", "phpsessid":
		return value != ""
	case "sessionid", "session_id", "sessid", "oscsid", "zenid":
		return len(value) >= 16 && isAlphanumeric(value)
	case "sid", "s": // used by phpBB and vBulletin
		return len(value) == 32 && strings.Trim(strings.ToLower(value), "0123456789abcdef") == ""
	}
	return strings.HasPrefix(name, "aspsessionid") && len(value) >= 16 && isAlphanumeric(value)
}

func isAlphanumeric(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	})
}

// isCookielessSegment reports whether a path segment is a session identifier of
// ASP.NET, such as (S(3ytzcr55kv0lvg45jbmvkg55)).
func isCookielessSegment(segment string) bool {
	id, ok := strings.CutPrefix(segment, "(S(")
	id, end := strings.CutSuffix(id, "))")
	return ok && end && len(id) == 24 && isAlphanumeric(id)
}
