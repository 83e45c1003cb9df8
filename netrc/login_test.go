package netrc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/netrc"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

const text = `machine a.test login mary password pm account am
machine b.test password shared
default login anonymous password guest
`

// TestLogins checks the entry that each login function returns.
func TestLogins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "netrc")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, warning, err := netrc.Open(path)
	if err != nil || warning != "" {
		t.Fatal(err, warning)
	}
	login := func(c fetch.Challenge) *fetch.Credential {
		got, err := f.Login(t.Context(), c)
		if err != nil {
			t.Error(err)
		}
		return got
	}
	a, z := fetch.Origin{Scheme: "ftp", Host: "a.test", Port: 21}, fetch.Origin{Scheme: "ftp", Host: "z.test", Port: 21}
	for _, c := range []struct {
		name string
		got  *fetch.Credential
		want string
	}{
		{"challenge of a machine", login(fetch.Challenge{Origin: a}), "mary:pm:am"},
		{"challenge after a rejected login", login(fetch.Challenge{Origin: a, Rejected: true}), "-"},
		{"challenge to a user without an entry", login(fetch.Challenge{Origin: a, User: "eve", Typed: true}), "-"},
		{"challenge, entered host", login(fetch.Challenge{Origin: z, Typed: true}), "anonymous:guest:"},
		{"challenge, host from a server", login(fetch.Challenge{Origin: z}), "-"},
		{"redirect to a machine", f.RedirectLogin(a), "mary:pm:am"},
		{"redirect to another host", f.RedirectLogin(z), "-"},
		{"entered URL", f.Credential(uri.MustParse("ftp://A.test./x")), "mary:pm:am"},
		{"entered URL with a user", f.Credential(uri.MustParse("ftp://ann@b.test/")), "ann:shared:"},
		{"entered URL of another host", f.Credential(uri.MustParse("ftp://z.test/")), "anonymous:guest:"},
		{"invalid host", f.Credential(uri.MustParse("ftp://0x7f.1/")), "-"},
	} {
		got := "-"
		if c.got != nil {
			got = c.got.User + ":" + c.got.Password.Reveal() + ":" + c.got.Account.Reveal()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestOpenDefault checks the file that Open reads for an empty path.
func TestOpenDefault(t *testing.T) {
	home := t.TempDir()
	for name, login := range map[string]string{".netrc": "home", "other": "variable"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte("default login "+login), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(".netrc", filepath.Join(home, "link")); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		name, path, variable, home, want string
	}{
		{"the home folder", "", "", home, "home"},
		{"the variable", "", filepath.Join(home, "other"), home, "variable"},
		{"the variable names a link", "", filepath.Join(home, "link"), home, "home"},
		{"the argument", filepath.Join(home, ".netrc"), filepath.Join(home, "other"), home, "home"},
		{"no file", "", "", filepath.Join(home, "absent"), "-"},
		{"the variable names no file", "", filepath.Join(home, "absent"), home, "-"},
		{"the argument names no file", filepath.Join(home, "absent"), "", home, "error"},
	} {
		t.Setenv("HOME", c.home)
		t.Setenv("NETRC", c.variable)
		got := "-"
		f, _, err := netrc.Open(c.path)
		if err != nil {
			if got = "error"; !errors.Is(err, fs.ErrNotExist) || fetch.FaultOf(err) != fetch.Local {
				t.Errorf("%s: %v", c.name, err)
			}
		} else if found := f.Credential(uri.MustParse("ftp://h.test/")); found != nil {
			got = found.User
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A Client that uses the logins of a netrc file.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, _, ok := r.BasicAuth()
		if !ok {
			w.Header().Set("WWW-Authenticate", `Basic realm="example"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprint(w, "hello "+user)
	}))
	defer server.Close()
	dir, err := os.MkdirTemp("", "netrc")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "netrc") // programs pass "" for the default file
	host, _, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	if err := os.WriteFile(path, []byte("machine "+host+" login mary password secret"), 0o600); err != nil {
		log.Fatal(err)
	}

	logins, warning, err := netrc.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	client := fetch.New(fetch.Options{
		Policy: fetch.Typed(), Login: logins.Login, RedirectLogin: logins.RedirectLogin,
	}, web.Schemes(web.Options{})...)
	defer client.Close()
	resp, err := client.Get(context.Background(), server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Printf("%q %s %v\n", warning, body, err)
	// Output: "" hello mary <nil>
}
