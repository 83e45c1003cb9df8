package negotiate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestConfig checks files with the settings of Linux distributions, and files that
// include others.
func TestConfig(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	realm := func(name, kdc string) string { return fmt.Sprintf("[realms]\n %s = {\n  kdc = %s\n }\n", name, kdc) }
	one := "[libdefaults]\n default_realm = ONE\n" + realm("ONE", "one.test")
	write("sub/first", "[libdefaults]\n permitted_enctypes = aes256-cts\n"+realm("TWO", "two.test"))
	write("sub/second.conf", "[domain_realm]\n .two.test = TWO\n")
	write("sub/third.rpmsave", "damaged\n"+realm("THREE", "three.test"))
	write("sub/.hidden.conf", realm("FOUR", "four.test"))
	folder, loop := "includedir "+filepath.Join(dir, "sub")+"/\n", filepath.Join(dir, "loop.conf")
	for _, c := range []struct {
		name, text string
		fault      fetch.Fault
		servers    []string
	}{
		{"plain", one, 0, []string{"one.test:88"}},
		{"Fedora", folder + "[libdefaults]\n dns_canonicalize_hostname = fallback\n qualify_shortname = \"\"\n ticket_lifetime = 24h\n" +
			" default_ccache_name = KEYRING:persistent:%{uid}\n" + one, 0, []string{"two.test:88", "one.test:88"}},
		{"Debian", "[libdefaults]\n default_realm = ONE\n kdc_timesync = 1\n ccache_type = 4\n fcc-mit-ticketflags = true\n" + one, 0, []string{"one.test:88"}},
		{"unused values", "[libdefaults]\n udp_preference_limit = 65000\n rdns = maybe\n ccache_type = FILE\n" + one, 0, []string{"one.test:88"}},
		{"settings of a realm", "[libdefaults]\n ONE = {\n  forwardable = what\n }\n" + one, 0, []string{"one.test:88"}},
		{"two sections", one + "[libdefaults]\n default_realm = OTHER\n" + realm("TWO", "two.test"), 0, []string{"one.test:88", "two.test:88"}},
		{"within a section", "[libdefaults]\n" + folder + " default_realm = ONE\n" + one, 0, []string{"two.test:88", "one.test:88"}},
		{"at the end", one + folder, 0, []string{"one.test:88", "two.test:88"}},
		{"file", "include\t" + filepath.Join(dir, "sub", "first") + "\n" + one, 0, []string{"two.test:88", "one.test:88"}},
		{"missing file", "include " + filepath.Join(dir, "none") + "\n" + one, fetch.Local, nil},
		{"missing folder", "includedir " + filepath.Join(dir, "none") + "\n" + one, fetch.Local, nil},
		{"loop", "include " + loop + "\n" + one, fetch.Local, nil},
		{"damaged", "[libdefaults]\n ticket_lifetime = long\n" + one, fetch.Local, nil},
	} {
		a, err := New(Options{Config: write("loop.conf", c.text)})
		if fetch.FaultOf(err) != c.fault {
			t.Errorf("%s: got %v", c.name, err)
		}
		if err == nil && (!slices.Equal(a.Servers(), c.servers) || a.config.LibDefaults.DefaultRealm != "ONE") {
			t.Errorf("%s: servers %q, realm %q", c.name, a.Servers(), a.config.LibDefaults.DefaultRealm)
		}
	}
}

// TestCacheName checks which cache of kinit is used.
func TestCacheName(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "cache-"+strconv.Itoa(os.Getuid()))
	if err := os.WriteFile(file, []byte("\x05\x04\x00\x00"+cachedName("R", "alice")), 0o600); err != nil {
		t.Fatal(err)
	}
	none, named := filepath.Join(dir, "none"), filepath.Join(dir, "cache-%{uid}")
	for _, c := range []struct {
		name, setting, cache string
		own                  bool
		want                 string // "" means that the cache is used
	}{
		{"name with the type", "", "FILE:" + file, false, ""},
		{"configured", "FILE:" + named, none, true, ""},
		{"configured without a type", named, none, true, ""},
		{"configured, but another one is chosen", "FILE:" + named, none, false, "run kinit"},
		{"other type", "KEYRING:persistent:%{uid}", none, true, "KEYRING:persistent:" + strconv.Itoa(os.Getuid()) + " is not supported"},
		{"other type, but a file is chosen", "KCM:", file, false, ""},
		{"chosen type", "", "KCM:", false, "KCM: is not supported"},
	} {
		config := filepath.Join(dir, "krb5.conf")
		if err := os.WriteFile(config, []byte("[libdefaults]\n default_realm = R\n default_ccache_name = "+c.setting+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := New(Options{Config: config, Cache: c.cache, OwnCache: c.own})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		user, err := a.user(nil)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || err == nil && user.Credentials.UserName() != "alice" {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}
