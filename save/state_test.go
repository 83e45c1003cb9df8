package save

import (
	"crypto/sha256"
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"http://h/p", "http://h/p"},
		{"http://u@h/p", "http://***@h/p"},
		{"ftp://u:p@h/p", "ftp://***@h/p"},
		{"ftp://u:p@q@h/p", "ftp://***@h/p"},
		{"ftp://@h/p", "ftp://***@h/p"},
		{"http://h/a@b", "http://h/a@b"},
		{"http://h?a@b", "http://h?a@b"},
		{"file:///a@b", "file:///a@b"},
		{"http://h#a@b", "http://h#a@b"},
		{"http://h/?u=http://u:p@h", "http://h/?u=http://u:p@h"},
		{"//u:p@h", "//***@h"},
		{"news:a@b", "news:a@b"},
		{"", ""},
	} {
		if got := maskUserinfo(test.in); got != test.want {
			t.Errorf("mask(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func TestDecode(t *testing.T) {
	zeros := strings.Repeat("0", 64)
	for _, test := range []struct {
		name, in string
		ok       bool
	}{
		{"as written", `{"version":1,"url":"u","validator":"v","offset":1,"size":2,"sha256":"` + zeros + `"}`, true},
		{"note", `{"version":1,"url":"u","validator":"v","offset":1,"size":2,"sha256":"` + zeros + `","note":"n"}`, true},
		{"no validator", `{"version":1,"url":"u","validator":"","offset":1,"size":2,"sha256":"` + zeros + `"}`, false},
		{"nothing", "", false},
		{"not JSON", "offset=1", false},
		{"two values", `{"version":1,"url":"u","validator":"v","offset":1,"size":2,"sha256":"` + zeros + `"}{}`, false},
		{"a brace too many", `{"version":1,"url":"u","validator":"v","offset":1,"size":2,"sha256":"` + zeros + `"}}`, false},
		{"a later version", `{"version":2,"url":"u","validator":"v","offset":1,"size":2,"sha256":"` + zeros + `"}`, false},
		{"an unknown key", `{"version":1,"url":"u","validator":"v","offset":1,"size":2,"etag":"","sha256":"` + zeros + `"}`, false},
		{"no offset", `{"version":1,"url":"u","validator":"v","size":2,"sha256":"` + zeros + `"}`, false},
		{"negative offset", `{"version":1,"url":"u","validator":"v","offset":-1,"size":2,"sha256":"` + zeros + `"}`, false},
		{"offset out of range", `{"version":1,"url":"u","validator":"v","offset":9223372036854775808,"size":-1,"sha256":"` + zeros + `"}`, false},
		{"more than all", `{"version":1,"url":"u","validator":"v","offset":3,"size":2,"sha256":"` + zeros + `"}`, false},
		{"half a digest", `{"version":1,"url":"u","validator":"v","offset":1,"size":2,"sha256":"00"}`, false},
		{"too long", `{"version":1,"url":"` + strings.Repeat("x", maxState) + `","validator":"v","offset":1,"size":2,"sha256":"` + zeros + `"}`, false},
	} {
		if s, _, ok, err := decode(strings.NewReader(test.in)); ok != test.ok || err != nil {
			t.Errorf("%s: got %+v, %v, %v, want %v", test.name, s, ok, err, test.ok)
		}
	}
}

func TestEncodeTooLong(t *testing.T) {
	if text := encode(State{URL: strings.Repeat("x", maxState), Offset: 1}, sha256.New()); text != nil {
		t.Errorf("got %d bytes", len(text))
	}
}

// FuzzState checks that an accepted state is encoded to the same bytes.
func FuzzState(f *testing.F) {
	f.Add([]byte(encode(State{URL: "http://h/", Validator: `"v"`, Offset: 10, Size: -1, Unverified: true}, sha256.New())))
	f.Add([]byte(encode(State{URL: "http://h/\xff<", Validator: "v", Offset: 10, Size: 10}, sha256.New())))
	f.Add([]byte(`{"version":1,"offset":1e2}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, digest, ok, err := decode(strings.NewReader(string(in)))
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			if s != (State{}) || digest != nil {
				t.Errorf("refused, with %+v", s)
			}
			return
		}
		if s.Offset <= 0 || s.Size >= 0 && s.Size < s.Offset || len(digest) != sha256.Size {
			t.Errorf("took %+v", s)
		}
		again, _, ok, _ := decode(strings.NewReader(string(encode(s, sha256.New()))))
		if !ok || again != s {
			t.Errorf("%+v is read again as %+v, %v", s, again, ok)
		}
	})
}

// FuzzMask checks that maskUserinfo removes the userinfo and nothing else.
func FuzzMask(f *testing.F) {
	f.Add("ftp:", "user:s3cret", "h/p@q")
	f.Add("", "a@b", "c?d@e")
	f.Fuzz(func(t *testing.T, before, userinfo, after string) {
		host, _, _ := strings.Cut(strings.NewReplacer("?", "/", "#", "/").Replace(after), "/")
		if strings.Contains(before+"/", "//") || strings.ContainsAny(userinfo, "/?#") || strings.Contains(host, "@") {
			return
		}
		if got, want := maskUserinfo(before+"//"+userinfo+"@"+after), before+"//***@"+after; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if plain := before + "//" + after; maskUserinfo(plain) != plain {
			t.Errorf("mask(%q) = %q", plain, maskUserinfo(plain))
		}
	})
}
