//go:build unix

package negotiate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestForeignCache checks that the tickets of another user are not used if this
// user has not named the file, and that a damaged file of another user is no error.
func TestForeignCache(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can create files of other users")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "krb5.conf")
	if err := os.WriteFile(config, []byte("[libdefaults]\n default_realm = R\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		owner      int
		own        bool
		want       bool // the cache is used
		fault      fetch.Fault
	}{
		{"own", "\x05\x03" + cachedName("R", "alice"), 0, true, true, 0},
		{"own and damaged", "hello", 0, true, false, fetch.Local},
		{"of another user", "\x05\x03" + cachedName("R", "mallory"), 65534, true, false, 0},
		{"of another user and damaged", "hello", 65534, true, false, 0},
		{"of another user, named", "\x05\x03" + cachedName("R", "alice"), 65534, false, true, 0},
	} {
		cache := filepath.Join(dir, c.name)
		if err := os.WriteFile(cache, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(cache, c.owner, c.owner); err != nil {
			t.Fatal(err)
		}
		a, err := New(Options{Config: config, Cache: cache, OwnCache: c.own})
		if fetch.FaultOf(err) != c.fault || err == nil && (a.cache != nil) != c.want {
			t.Errorf("%s: got %v, or the wrong cache", c.name, err)
		}
	}
}
