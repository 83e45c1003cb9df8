package netrc

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"
)

func mustParse(t *testing.T, text string) *File {
	t.Helper()
	f, err := parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFind(t *testing.T) {
	const text = `
machine a.test login mary password pm account am
machine a.test login john password pj
machine b.test password shared
machine c.test login only
machine 2001:db8::1 login six password p6
default login anonymous password guest
`
	for _, c := range []struct {
		name, host, login string
		typed             bool
		want              string
	}{
		{"first of two", "a.test", "", false, "mary pm am"},
		{"login selects the entry", "a.test", "john", false, "john pj "},
		{"unknown login, host from a server", "a.test", "eve", false, "-"},
		{"unknown login, entered host, default with another login", "a.test", "eve", true, "-"},
		{"login differs by case", "a.test", "Mary", true, "-"},
		{"case and dot of the host", "A.TEST.", "", false, "mary pm am"},
		{"only one dot is dropped", "a.test..", "", false, "-"},
		{"password for any login", "b.test", "ann", false, "ann shared "},
		{"login without password", "c.test", "", false, "only  "},
		{"login without password for a URL with a login", "c.test", "only", false, "-"},
		{"IPv6 in brackets", "[2001:DB8::1]", "", false, "six p6 "},
		{"default for an entered host", "z.test", "", true, "anonymous guest "},
		{"default with its login", "z.test", "anonymous", true, "anonymous guest "},
		{"no default for a host from a server", "z.test", "", false, "-"},
		{"subdomain", "x.a.test", "", false, "-"},
		{"no host", "", "", false, "-"},
	} {
		got := "-"
		if e, ok := mustParse(t, text).find(c.host, c.login, c.typed); ok {
			got = e.Login + " " + e.credential().Password.Reveal() + " " + e.credential().Account.Reveal()
		}
		if got != c.want {
			t.Errorf("%s: Find(%q, %q, %v) = %q, want %q", c.name, c.host, c.login, c.typed, got, c.want)
		}
	}
	if _, ok := new(File).find("a.test", "", true); ok {
		t.Error("the zero File has an entry")
	}
}

// TestRedirects checks the credentials that the host of a redirect receives
// (CVE-2024-11053 and CVE-2025-0167).
func TestRedirects(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"machine a.test login u password p\nmachine b.test\ndefault", "-"},
		{"machine a.test login u password p\nmachine b.test login u", "u:"},
		{"machine a.test login u password p\ndefault", "-"},
		{"machine a.test login u password p\ndefault login d password q", "-"},
		{"machine a.test login u password p\nmachine b.test login b password r", "b:r"},
		{"default login d password q\nmachine b.test login b password r", "b:r"},
	} {
		got := "-"
		if e, ok := mustParse(t, c.text).find("b.test", "", false); ok {
			got = e.Login + ":" + e.credential().Password.Reveal()
		}
		if got != c.want {
			t.Errorf("%q: b.test gets %s, want %s", c.text, got, c.want)
		}
	}
}

func TestInvalidFile(t *testing.T) {
	long := strings.Repeat("x", maxWord+1)
	for _, c := range []struct {
		name, text string
		want       error
		line       string
	}{
		{"word", "machine h login u\npassword " + long, errTooLong, "line 2: "},
		{"word in quotes", `machine h password "` + long + `"`, errTooLong, "line 1: "},
		{"unknown word", long, errTooLong, "line 1: "},
		{"file", strings.Repeat("#\n", maxFile/2) + "#", errTooLong, ""},
		{"one line of 64 KiB without an end", strings.Repeat("x", maxFile), errTooLong, "line 1: "},
		{"quote", "\n\nmachine h login \"s3cret\n\"", errQuote, "line 3: "},
		{"quote with an escaped end", `machine h password "s3cret\"`, errQuote, "line 1: "},
	} {
		_, err := parse(strings.NewReader(c.text))
		if !errors.Is(err, c.want) || err.Error() != c.line+c.want.Error() {
			t.Errorf("%s: %v, want %s%v", c.name, err, c.line, c.want)
		}
	}
	if _, err := parse(iotest.ErrReader(errDisk)); err != errDisk {
		t.Errorf("failing reader: %v", err)
	}
	if _, err := parse(strings.NewReader(strings.Repeat("#\n", maxFile/2))); err != nil {
		t.Errorf("file of exactly 64 KiB: %v", err)
	}
}

var errDisk = errors.New("disk")

func TestSecretIsMasked(t *testing.T) {
	f := mustParse(t, "machine h.test login u password hunter2 account acc0unt")
	e, _ := f.find("h.test", "", false)
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("found", "entry", e, "password", e.Password)
	record, err := json.Marshal(map[string]any{"entry": e, "file": f})
	if err != nil {
		t.Fatal(err)
	}
	hidden := struct{ e entry }{e}
	shown := []string{log.String(), string(record), e.Password.String()}
	for _, v := range []any{e, &e, f, *f, hidden, e.Password} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
			shown = append(shown, fmt.Sprintf(verb, v))
		}
	}
	for _, s := range shown {
		for _, secret := range []string{"hunter2", "acc0unt", fmt.Sprintf("%x", "hunter2")} {
			if strings.Contains(strings.ToLower(s), secret) {
				t.Errorf("%q shows %s", s, secret)
			}
		}
	}
}

func FuzzNetrc(f *testing.F) {
	f.Add("machine h.test login u password \"p\\n\" account a\nmacdef x\ny\n\ndefault login d", "h.test", "u")
	f.Add("machine\x00\n# c\npassword \"", "h", "")
	f.Fuzz(func(t *testing.T, text, host, login string) {
		file, err := parse(strings.NewReader(text))
		if err != nil {
			if file != nil || !errors.Is(err, errTooLong) && !errors.Is(err, errQuote) {
				t.Fatalf("%v, %v", file, err)
			}
			return
		}
		e, ok := file.find(host, login, false)
		if ok && (e.Default || login != "" && e.Login != login) {
			t.Fatalf("%q as %q found %+v", host, login, e)
		}
		if reread, ok2 := mustParse(t, formatFile(file)).find(host, login, false); ok2 != ok || ok && formatEntry(reread) != formatEntry(e) {
			t.Fatalf("%+v, %v; written and read again %+v, %v", e, ok, reread, ok2)
		}
	})
}

// formatFile returns f in the format of a netrc file.
func formatFile(f *File) string {
	var b strings.Builder
	for _, e := range f.entries {
		b.WriteString(formatEntry(e))
	}
	return b.String()
}

func formatEntry(e entry) string {
	s := "machine " + quote(e.Machine)
	if e.Default {
		s = "default"
	}
	s += " login " + quote(e.Login)
	if e.Password != nil {
		s += " password " + quote(e.credential().Password.Reveal())
	}
	if e.Account != nil {
		s += " account " + quote(e.credential().Account.Reveal())
	}
	return s + "\n"
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
