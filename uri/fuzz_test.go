package uri

import (
	"errors"
	"maps"
	"strings"
	"testing"
)

// FuzzURIParse compares the parser with the grammar and parses the printed form
// of each URI again.
func FuzzURIParse(f *testing.F) {
	for _, r := range rows(f, "rfc3986.jsonl") {
		if r.Input != "" {
			f.Add(r.Input)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1<<8 {
			return // skip long input, because the grammar is slow
		}
		for p, re := range strictGrammar.production {
			if got, want := Valid(s, p), re.MatchString(s); got != want {
				t.Errorf("Valid(%q, %v) = %v", s, p, got)
			}
		}
		u, err := ParseReference(s)
		z, zerr := ParseZone(s)
		if err == nil && (zerr != nil || z != u) {
			t.Errorf("ParseZone(%q) = %#v, %v", s, z, zerr)
		}
		if got, want := zerr == nil, zoneGrammar.production[URIReference].MatchString(s); got != want {
			t.Errorf("ParseZone(%q): %v", s, zerr)
		}
		for _, err := range []error{err, zerr} {
			if e := (*Error)(nil); err != nil && (!errors.As(err, &e) || e.Offset < 0 || e.Offset > len(s)) {
				t.Errorf("%q: %v", s, err)
			}
		}
		if zerr == nil {
			checkURI(t, z)
		}
	})
}

// checkURI verifies the properties that every URI has.
func checkURI(t *testing.T, u URI) {
	t.Helper()
	s := u.Unredacted()
	if again, err := ParseZone(s); err != nil || again != u {
		t.Errorf("%q does not parse to itself: %v", s, err)
	}
	if got, want := components(u), zoneGrammar.split(s); !maps.Equal(got, want) {
		t.Errorf("%q has %v, want %v", s, got, want)
	}
	if again, err := Build(u.Parts()); err != nil || again != u {
		t.Errorf("%q is not equal to the URI built from its Parts: %v", s, err)
	}
	masked, err := ParseZone(u.String())
	if err != nil || masked.String() != u.String() || u.Host() != "" && masked.WithoutUserinfo() != u.WithoutUserinfo() {
		t.Errorf("%q prints as %q: %v", s, u, err)
	}
	name, _, has := u.User()
	if n, p, h := masked.User(); n != name || h != has || has && p != "***" {
		t.Errorf("%q prints as %q", s, u)
	}
	if addr, ok := u.Addr(); u.HostKind() == IPv4 && (!ok || addr.String() != u.Host()) {
		t.Errorf("%q: address %v", s, addr)
	} else if ok && u.HostKind() != IPv4 && u.HostKind() != IPv6 {
		t.Errorf("%q has an address and is %v", s, u.HostKind())
	}
	for _, v := range []URI{u.WithoutFragment(), u.WithoutQuery(), u.WithoutUserinfo()} {
		if again, err := ParseZone(v.Unredacted()); err != nil || again != v {
			t.Errorf("%q became %q: %v", s, v.Unredacted(), err)
		}
	}
}

// FuzzResolve compares each mode with a literal implementation of its
// specification.
func FuzzResolve(f *testing.F) {
	for _, r := range append(rows(f, "rfc3986.jsonl"), rows(f, "drafts.jsonl")...) {
		if r.Kind == "resolve" {
			f.Add(r.Base, r.Ref)
		}
	}
	f.Fuzz(func(t *testing.T, b, r string) {
		base, err := ParseZone(b)
		if err != nil || base.scheme == 0 {
			return
		}
		ref, err := ParseZone(r)
		if err != nil {
			return
		}
		for _, m := range []Mode{RFC3986, Draft2003, Draft1997} {
			got, err := m.Resolve(base, ref)
			if err != nil {
				t.Fatalf("%v: %q against %q: %v", m, r, b, err)
			}
			checkURI(t, got)
			if want := slowResolve(m, base, ref); got.Unredacted() != want {
				t.Errorf("%v: %q against %q is %q, want %q", m, r, b, got.Unredacted(), want)
			}
			from := base
			if ref.scheme > 0 || ref.auth {
				from = ref
			}
			if a, ok := got.Authority(); !sameAuthority(a, ok, from) {
				t.Errorf("%v: %q against %q is %q, which has another authority", m, r, b, got.Unredacted())
			}
		}
	})
}

// slowResolve is a literal implementation of the specifications. Both drafts
// share RFC 3986 section 5.2.2.
func slowResolve(m Mode, base, ref URI) string {
	b, r := base.Parts(), ref.Parts()
	authority, _ := base.Authority()
	hasAuthority := base.auth
	scheme, path, query, hasQuery := b.Scheme, r.Path, r.Query, r.HasQuery
	dots := func(s string) string { return s }
	if m == RFC3986 {
		dots = slowDots
	}
	switch {
	case r.Scheme != "" || ref.auth:
		if r.Scheme != "" {
			scheme = r.Scheme
		}
		authority, hasAuthority = ref.Authority()
		path = dots(path)
	case path == "" && !hasQuery:
		path, query, hasQuery = b.Path, b.Query, b.HasQuery
	case path == "" && m != Draft1997:
		path = b.Path
	case strings.HasPrefix(path, "/"):
		path = dots(path)
	default:
		merged := b.Path[:strings.LastIndexByte(b.Path, '/')+1]
		if b.Path == "" && (hasAuthority || m == Draft2003) {
			merged = "/"
		}
		switch merged += path; m {
		case RFC3986:
			path = slowDots(merged)
		case Draft2003:
			path = slowDraftDots(merged)
		case Draft1997:
			if hasQuery {
				merged += "?" + query
			}
			path, query, hasQuery = strings.Cut(slowDraftDots(merged), "?")
		}
	}
	s := scheme + ":"
	if hasAuthority {
		s += "//" + authority
	} else if strings.HasPrefix(path, "//") {
		s += "/."
	}
	s += path
	if hasQuery {
		s += "?" + query
	}
	if r.HasFragment {
		s += "#" + r.Fragment
	}
	return s
}

// FuzzNormalizeIdempotent verifies that normalizing twice has no further
// effect, and that normalization preserves the decoded components.
func FuzzNormalizeIdempotent(f *testing.F) {
	for _, r := range rows(f, "rfc3986.jsonl") {
		if r.Kind == "normalize" {
			f.Add(r.Input)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := ParseZone(s)
		if err != nil {
			return
		}
		for _, l := range []Level{Syntax, ByScheme} {
			n := u.Normalize(l)
			checkURI(t, n)
			if again := n.Normalize(l); again != n {
				t.Errorf("%v: %q normalizes to %q and that to %q", l, s, n.Unredacted(), again.Unredacted())
			}
			local := l == ByScheme && n.Scheme() == "file" && n.Host() == "" // such a URI may gain an authority
			if !Equivalent(u, n, l) || n.Scheme() != u.Scheme() || n.auth != u.auth && !local {
				t.Errorf("%v: %q normalizes to %q", l, s, n.Unredacted())
			}
			if u.Normalize(Syntax).Normalize(l) != n {
				t.Errorf("%v: %q normalizes differently after syntax normalization", l, s)
			}
			for _, part := range []string{"userinfo", "query", "fragment"} {
				if a, b := decoded(t, u, part), decoded(t, n, part); a != b {
					t.Errorf("%v: %s of %q changes from %q to %q", l, part, s, a, b)
				}
			}
		}
	})
}

func decoded(t *testing.T, u URI, part string) string {
	s, _ := components(u)[part].(string)
	d, err := Unescape(s)
	if err != nil {
		t.Errorf("%s of %q: %v", part, u.Unredacted(), err)
	}
	return d
}

// FuzzRelativizeRoundTrip verifies that the result of Relativize resolves to
// the target.
func FuzzRelativizeRoundTrip(f *testing.F) {
	for _, r := range rows(f, "rfc3986.jsonl") {
		if r.Kind == "relativize" {
			f.Add(r.Base, r.Target)
		}
	}
	f.Fuzz(func(t *testing.T, b, s string) {
		base, err := ParseZone(b)
		if err != nil || base.scheme == 0 {
			return
		}
		target, err := ParseZone(s)
		if err != nil || target.scheme == 0 {
			return
		}
		ref := Relativize(base, target)
		checkURI(t, ref)
		if ref != target && ref.scheme > 0 {
			t.Errorf("from %q to %q: %q", b, s, ref.Unredacted())
		}
		got, err := base.Resolve(ref)
		if err != nil {
			t.Fatal(err)
		}
		if direct, _ := base.Resolve(target); got != target && (ref != target || direct == target) {
			t.Errorf("from %q to %q: %q, which gives %q", b, s, ref.Unredacted(), got.Unredacted())
		}
	})
}

// FuzzEscape verifies that an escaped string contains only allowed bytes and
// decodes to the original.
func FuzzEscape(f *testing.F) {
	f.Add("a b/%41é", uint16(Path))
	f.Fuzz(func(t *testing.T, s string, set uint16) {
		e := Escape(s, Set(set))
		if got, err := Unescape(e); err != nil || got != s {
			t.Errorf("Escape(%q, %#x) = %q, which is %q, %v", s, set, e, got, err)
		}
		if n := spanEncoded(e, 0, Set(set)); n != len(e) {
			t.Errorf("Escape(%q, %#x) = %q", s, set, e)
		}
		Unescape(s)
	})
}
