package uri

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// A row is one line of testdata/*.jsonl. See testdata/README.md.
type row struct {
	ID, Kind, Class         string
	Input, Production       string
	Base, Ref, Target, A, B string
	Level, URI              string
	Expected                any
	Draft                   string
	Text                    string
	Accept                  []any
}

func (r *row) UnmarshalJSON(b []byte) error {
	type plain row
	x := struct {
		*plain
		Draft any `json:"draft_expected"`
	}{plain: (*plain)(r)}
	err := json.Unmarshal(b, &x)
	r.Draft, _ = x.Draft.(string)
	return err
}

func rows(t testing.TB, name string) (list []row) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		var r row
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	if s.Err() != nil || len(list) == 0 {
		t.Fatalf("%s: %d rows, %v", name, len(list), s.Err())
	}
	return list
}

func TestVectors(t *testing.T) {
	for _, name := range []string{"rfc3986.jsonl", "drafts.jsonl"} {
		for _, r := range rows(t, name) {
			t.Run(r.ID, func(t *testing.T) { r.check(t) })
		}
	}
}

func (r *row) check(t *testing.T) {
	level := Syntax
	if r.Level == ByScheme.String() {
		level = ByScheme
	}
	switch r.Kind {
	case "valid":
		p, ok := ParseProduction(r.Production)
		if !ok {
			t.Fatalf("production %q is unknown", r.Production)
		}
		if got := Valid(r.Input, p); got != r.Expected {
			t.Errorf("Valid(%q, %v) = %v, want %v", r.Input, p, got, r.Expected)
		}
	case "parse":
		got := components(parseTest(t, r.Input))
		for name, want := range r.Expected.(map[string]any) {
			if got[name] != want {
				t.Errorf("%s of %q is %v, want %v", name, r.Input, got[name], want)
			}
		}
	case "resolve":
		got, err := parseTest(t, r.Base).Resolve(parseTest(t, r.Ref))
		if err != nil || got.Unredacted() != r.Expected {
			t.Errorf("%q against %q is %q (%v), want %q", r.Ref, r.Base, got.Unredacted(), err, r.Expected)
		}
	case "normalize":
		if got := parseTest(t, r.Input).Normalize(level); got.Unredacted() != r.Expected {
			t.Errorf("%q normalizes to %q, want %q", r.Input, got.Unredacted(), r.Expected)
		}
	case "equivalent":
		if got := Equivalent(parseTest(t, r.A), parseTest(t, r.B), level); got != r.Expected {
			t.Errorf("%q and %q equivalent: %v, want %v", r.A, r.B, got, r.Expected)
		}
	case "relativize":
		base, target := parseTest(t, r.Base), parseTest(t, r.Target)
		ref := Relativize(base, target)
		if got, err := base.Resolve(ref); err != nil || got != target {
			t.Errorf("%q to %q is %q, which resolves to %q (%v)", r.Base, r.Target, ref, got, err)
		}
		if want := parseTest(t, r.Expected.(string)); want.Scheme() == "" && ref.Scheme() != "" {
			t.Errorf("%q to %q is %q, want one like %q", r.Base, r.Target, ref, want)
		}
	default:
		t.Fatalf("kind %q is unknown", r.Kind)
	}
}

func parseTest(t *testing.T, s string) URI {
	t.Helper()
	u, err := ParseReference(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return u
}

// components returns the components of u under their names in the test vectors.
// A nil value is undefined.
func components(u URI) map[string]any {
	m := map[string]any{"path": u.Path()}
	set := func(name, value string, ok bool) {
		m[name] = nil
		if ok {
			m[name] = value
		}
	}
	get := func(name string, f func() (string, bool)) {
		value, ok := f()
		set(name, value, ok)
	}
	set("scheme", u.Parts().Scheme, u.Scheme() != "")
	set("host", u.Host(), u.HasAuthority())
	get("authority", u.Authority)
	get("userinfo", u.Userinfo)
	get("port", u.Port)
	get("query", u.Query)
	get("fragment", u.Fragment)
	return m
}

func TestDraftVectors(t *testing.T) {
	modes := map[string]Mode{"draft": Draft2003, "draft97": Draft1997}
	for _, r := range rows(t, "drafts.jsonl") {
		mode, ok := modes[r.Class]
		if !ok {
			t.Fatalf("%s: class %q is unknown", r.ID, r.Class)
		}
		if r.Kind != "resolve" {
			continue
		}
		got, err := mode.Resolve(parseTest(t, r.Base), parseTest(t, r.Ref))
		if err != nil || got.Unredacted() != r.Draft {
			t.Errorf("%s: %q against %q is %q (%v), want %q", r.ID, r.Ref, r.Base, got.Unredacted(), err, r.Draft)
		}
	}
}

// TestAttackVectors verifies that invalid URIs are rejected. URIs that are
// dangerous only in their meaning, for example because of their port or a
// decoded control character, are valid here.
func TestAttackVectors(t *testing.T) {
	for _, r := range rows(t, "attack.jsonl") {
		want := r.Expected != "invalid" && r.Expected != "typed only"
		if got := Valid(r.URI, FullURI); got != want {
			t.Errorf("Valid(%q) = %v, want %v", r.URI, got, want)
		}
		if _, err := ParseZone(r.URI); (err == nil) != (r.Expected != "invalid") {
			t.Errorf("ParseZone(%q): %v, want %v", r.URI, err, r.Expected)
		}
	}
}
