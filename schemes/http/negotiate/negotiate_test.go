package negotiate

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestFiles checks damaged and missing files.
func TestFiles(t *testing.T) {
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	config := file("[libdefaults]\n default_realm = R\n[realms]\n R = {\n  kdc = a.test\n  kdc = [2001:db8::1]:89\n }\n")
	for _, c := range []struct {
		name  string
		o     Options
		fault fetch.Fault
	}{
		{"good", Options{Config: config}, 0},
		{"missing cache", Options{Config: config, Cache: filepath.Join(t.TempDir(), "none")}, 0},
		{"missing configuration", Options{Config: filepath.Join(t.TempDir(), "none")}, fetch.Local},
		{"missing keytab", Options{Config: config, Keytab: filepath.Join(t.TempDir(), "none")}, fetch.Local},
		{"cache with one byte", Options{Config: config, Cache: file("\x05")}, fetch.Local},
		{"cache with a long header", Options{Config: config, Cache: file("\x05\x04\xff\xff\x00")}, fetch.Local},
		{"cache of another program", Options{Config: config, Cache: file("hello")}, fetch.Local},
		{"keytab of another program", Options{Config: config, Keytab: file("hello")}, fetch.Local},
	} {
		a, err := New(c.o)
		if fetch.FaultOf(err) != c.fault {
			t.Errorf("%s: got %v", c.name, err)
		}
		if err == nil && !slices.Equal(a.Servers(), []string{"a.test:88", "[2001:db8::1]:89"}) {
			t.Errorf("%s: servers %q", c.name, a.Servers())
		}
	}
	a, err := New(Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(context.Context, string) (net.Conn, error) { return nil, fetch.Connect.Errorf("refused") }
	for name, want := range map[string]fetch.Fault{"": fetch.Auth, "alice@R": fetch.Connect, "alice@OTHER": fetch.Usage} {
		_, err := a.Token(t.Context(), refuse, "host.test", &fetch.Credential{User: name, Password: "pw"})
		if fetch.FaultOf(err) != want {
			t.Errorf("user %q: got %v", name, err)
		}
	}
}

// FuzzCache checks that damaged caches give errors.
func FuzzCache(f *testing.F) {
	f.Add([]byte("\x05\x04\x00\x0c\x00\x01\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01R\x00\x00\x00\x01a"))
	alice, service := cachedName("R", "alice"), cachedName("R", "HTTP", "host.test")
	f.Add([]byte("\x05\x03" + alice + alice + service + "\x00\x11\x00\x11" + number(0) + strings.Repeat("\x7f", 16) + "\x00" + number(0) + number(0) + number(0) +
		number(3) + "abc" + number(0)))
	config := filepath.Join(f.TempDir(), "krb5.conf")
	if err := os.WriteFile(config, []byte("[libdefaults]\n default_realm = R\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		cache := filepath.Join(t.TempDir(), "cache")
		if err := os.WriteFile(cache, text, 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := New(Options{Config: config, Cache: cache})
		if err != nil {
			return
		}
		a.Token(t.Context(), nil, "host.test", nil)
	})
}
