package mirror_test

import (
	"cmp"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
	"github.com/anyurl/fetch/uri"
)

// TestStrangersDatabase checks that sources recorded in the database of a
// stranger grant no access to addresses and files that the server of a URL
// could not link to.
func TestStrangersDatabase(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ url, host, meta string }{
		"seed":                                  {"http://127.0.0.1/x", "127.0.0.1", `{}`},
		"seed with a host name":                 {"http://intra.example/x", "intra.example", `{}`},
		"file seed":                             {"file://" + secret, "file:", `{}`},
		"no meta":                               {"http://127.0.0.1/x", "127.0.0.1", ``},
		"page on the local machine":             {"http://127.0.0.1/x", "127.0.0.1", `{"from":"http://127.0.0.1/","peer":"127.0.0.1"}`},
		"page on the local machine, no peer":    {"http://127.0.0.1/x", "127.0.0.1", `{"from":"http://127.0.0.1/"}`},
		"typed page, peer on the local machine": {"http://127.0.0.1/x", "127.0.0.1", `{"from":"http://a.example/d/","peer":"127.0.0.1"}`},
		"typed page, peer in a private network": {"http://intra.example/x", "intra.example", `{"from":"http://a.example/d/","peer":"10.0.0.1"}`},
		"robots.txt":                            {"http://127.0.0.1/robots.txt", "127.0.0.1", `{"guide":true,"from":"http://127.0.0.1/"}`},
		"target of a seed":                      {"http://127.0.0.1/x", "127.0.0.1", `{"under":"http://127.0.0.1/x","hops":1}`},
		"page of the recorded seeds":            {"http://127.0.0.1/x", "127.0.0.1", `{"from":"http://127.0.0.1/","peer":"127.0.0.1","run":1,"by":""}`},
		"file":                                  {"file://" + secret, "file:", `{"from":"file:///"}`},
		"mailbox":                               {"imap://127.0.0.1/INBOX", "127.0.0.1", `{"from":"imap://127.0.0.1/"}`},
		"message":                               {"mid:1@b.example", "mid:", `{"from":"mid:0@b.example"}`},
	} {
		depth := 0
		if strings.Contains(c.meta, "from") {
			depth = 1
		}
		t.Run(name, func(t *testing.T) {
			short.Sample(t, 6)
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.web("a.example", webSite{"/d/": `<a href=x>`, "/d/x": "x"})
				w.web("127.0.0.1", webSite{"/x": "secret\n", "/robots.txt": "secret\n"}, "127.0.0.1")
				w.web("intra.example", webSite{"/x": "secret\n"}, "10.0.0.5")
				o := w.options("http://a.example/d/")
				o.Scope.Reach = mirror.Any
				plant(t, o.Dir, frontier.Item{Key: frontier.KeyOf(c.url), URL: c.url, Host: c.host, Depth: depth, Meta: []byte(c.meta)})
				run(t, o)
				for _, to := range w.dialed {
					if strings.HasPrefix(to, "127.0.0.1") || strings.HasPrefix(to, "intra.") {
						t.Errorf("connection to %s", to)
					}
				}
				for path, text := range tree(t, o.Dir, "") {
					if strings.Contains(text, "secret") {
						t.Errorf("%s was read", path)
					}
				}
			})
		})
	}
}

// TestStrangersNeighbours checks the same for a command whose seeds name a
// private server or a local folder.
func TestStrangersNeighbours(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"pub/a": "a\n", "secret": "secret\n"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	pub, outside := "file://"+dir+"/pub/", "file://"+dir+"/secret"
	for name, c := range map[string]struct {
		seed, url, host, meta string
		reach                 mirror.Reach
	}{
		"page of the server":       {"http://intra.example/", "http://10.0.0.7/x", "10.0.0.7", `{"from":"http://intra.example/","peer":"10.0.0.5","run":1}`, mirror.Any},
		"robots.txt of the server": {"http://intra.example/", "http://10.0.0.7/x", "10.0.0.7", `{"from":"http://intra.example/","peer":"10.0.0.5","guide":true}`, mirror.Any},
		"listing":                  {pub, outside, "file:", `{"from":"file://` + dir + `/","run":1}`, mirror.Prefix},
		"listing, scope host":      {pub, outside, "file:", `{"from":"file://` + dir + `/","run":1}`, mirror.Host},
		"listing, scope domain":    {pub, outside, "file:", `{"from":"file://` + dir + `/","run":1}`, mirror.Domain},
		"listing, scope any":       {pub, outside, "file:", `{"from":"file://` + dir + `/","run":1}`, mirror.Any},
		"dot segments":             {pub, pub + "../secret", "file:", `{"from":"` + pub + `","run":1}`, mirror.Prefix},
		"encoded dot segments":     {pub, pub + "%2e%2e/secret", "file:", `{"from":"` + pub + `","run":1}`, mirror.Prefix},
		"other form of the URL":    {pub, "file://localhost" + dir + "/secret", "file:", `{"from":"` + pub + `","run":1}`, mirror.Host},
		"folder above":             {pub, "file://" + dir + "/", "file:", `{"from":"` + pub + `","run":1}`, mirror.Host},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.web("intra.example", webSite{"/": `<a href=x>`, "/x": "x"}, "10.0.0.5")
				w.web("10.0.0.7", webSite{"/x": "secret\n"}, "10.0.0.7")
				o := w.options(c.seed)
				o.Scope.Reach = c.reach
				plant(t, o.Dir, frontier.Item{Key: frontier.KeyOf(c.url), URL: c.url, Host: c.host, Depth: 1, Meta: []byte(c.meta)})
				run(t, o)
				for path, text := range tree(t, o.Dir, "") {
					if strings.Contains(text, "secret\n") && !strings.HasSuffix(path, ".listing") {
						t.Errorf("%s was read", path)
					}
				}
			})
		})
	}
}

// plant adds items to the database of a new archive, as if a run had been
// killed.
func plant(t *testing.T, dir string, items ...frontier.Item) {
	t.Helper()
	plantRun(t, dir, `{"seeds":["http://127.0.0.1/","http://10.0.0.7/","file:///"]}`, items...)
}

// plantRun adds items and a run with a note to the database of a new archive.
func plantRun(t *testing.T, dir, note string, items ...frontier.Item) {
	t.Helper()
	f, err := sqlite.Open(t.Context(), "sqlite:"+filepath.Join(dir, "fetch.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, _, err = f.Begin(t.Context(), []byte(note)); err == nil {
		_, err = f.Add(t.Context(), items)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestResumePrivate checks that an interrupted run continues at a server of a
// private network that this command names.
func TestResumePrivate(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"10.0.0.5", "127.0.0.1"} {
		synctest.Test(t, func(t *testing.T) {
			w := newNetwork(t)
			w.web("intra.example", webSite{"/": `<a href=x><a href=y>`, "/x": `<a href=z>`, "/y": "y", "/z": "z"}, at)
			o := w.options("http://intra.example/")
			o.Limits.Files = 1
			for range 3 {
				mirror.Run(t.Context(), o)
			}
			o.Limits.Files = 0
			if sum := run(t, o); sum.Pending > 0 || sum.Excluded > 0 || len(tree(t, o.Dir, "")) != 4 {
				t.Errorf("%s: %+v\n%s", at, sum, outcomes(t, o.Dir))
			}
		})
	}
}

// TestArchiveLinks checks that symbolic links in an archive are not followed.
func TestArchiveLinks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"lock", "fetch.db", "fetch.db-wal", "fetch.db-journal"} {
		o := options(t, sites["file"](t).urls...)
		run(t, o)
		outside := filepath.Join(t.TempDir(), "outside")
		os.Remove(filepath.Join(o.Dir, name))
		if err := os.Symlink(outside, filepath.Join(o.Dir, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := mirror.Run(t.Context(), o); fetch.FaultOf(err) != fetch.Local || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s is a link: %v", name, err)
		}
		if _, err := os.Lstat(outside); err == nil {
			t.Errorf("%s is a link that was followed", name)
		}
	}
}

// TestLinkedRecords checks that a symbolic link in warc/ is not read as a WARC
// file.
func TestLinkedRecords(t *testing.T) {
	t.Parallel()
	s := sites["file"](t)
	o, other := options(t, s.urls...), options(t, s.urls...)
	run(t, o)
	run(t, other)
	link := filepath.Join(o.Dir, "warc/other-20260101000000-00000-x.warc.gz")
	if err := os.Symlink(warcs(t, other.Dir)[0], link); err != nil {
		t.Fatal(err)
	}
	found := ""
	for f, err := range mirror.Open(mirror.Location{Dir: o.Dir}).Verify(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		found += f.Path + ": " + f.Text
	}
	if found != "warc/"+filepath.Base(link)+": not a regular file" {
		t.Errorf("verify: %q", found)
	}
	if err := mirror.Reindex(t.Context(), o.Dir); err != nil {
		t.Fatal(err)
	}
	if text := content(t, filepath.Join(o.Dir, "index/all.cdxj")); strings.Contains(text, "other-") {
		t.Errorf("the index has lines of the link: %s", text)
	}
}

// TestStrangersScope checks that an item of the database is requested only
// within the scope of this command and without credentials.
func TestStrangersScope(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		url, key, meta string
		depth          int
		asked          string // the expected request
	}{
		"item below the seed":                   {"http://a.example/d/x", "", `{}`, 0, "http://a.example/d/x"},
		"item above the seed":                   {"http://a.example/x", "", `{}`, 0, ""},
		"dot segments":                          {"http://a.example/d/../x", "", `{}`, 1, ""},
		"encoded dot segments":                  {"http://a.example/d/%2e%2e/x", "", `{}`, 1, ""},
		"item on another server":                {"http://b.example/x", "", `{}`, 0, ""},
		"recorded seed":                         {"http://b.example/", "", `{}`, 0, ""},
		"recorded seed in the domain":           {"http://www.a.example/", "", `{}`, 0, "http://www.a.example/"},
		"depth 0":                               {"http://b.example/x", "", `{"from":"http://a.example/d/","peer":"93.184.216.34"}`, 0, ""},
		"robots.txt of another server":          {"http://b.example/robots.txt", "", `{"from":"http://b.example/","guide":true}`, 0, ""},
		"robots.txt of the same server":         {"http://a.example/robots.txt", "", `{"from":"http://a.example/d/","guide":true}`, 0, "http://a.example/robots.txt"},
		"referenced item":                       {"http://b.example/x", "", `{"from":"http://a.example/d/","named":true}`, 1, ""},
		"redirect target":                       {"http://b.example/x", "", `{"from":"http://a.example/d/","under":"http://b.example/x","hops":1}`, 0, ""},
		"redirect target in the domain":         {"http://www.a.example/x", "", `{"from":"http://a.example/d/","under":"http://www.a.example/x","hops":1}`, 0, "http://www.a.example/x"},
		"item that redirects to another domain": {"http://a.example/d/to", "", `{"from":"http://a.example/d/"}`, 0, "http://a.example/d/to"},
		"key of the seed":                       {"http://b.example/x", "http://a.example/d/", `{}`, 0, ""},
		"login":                                 {"http://u:p@a.example/d/x", "", `{"from":"http://a.example/d/"}`, 1, "http://a.example/d/x"},
		"login at depth 0":                      {"http://u:p@a.example/d/x", "", `{}`, 0, "http://a.example/d/x"},
	} {
		t.Run(name, func(t *testing.T) {
			short.Sample(t, 2)
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				var mu sync.Mutex
				var asked []string
				logins := 0
				for _, host := range []string{"a.example", "www.a.example", "b.example"} {
					w.web(host, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
						mu.Lock()
						defer mu.Unlock()
						asked = append(asked, "http://"+host+r.URL.Path)
						if r.Header.Get("Authorization") != "" {
							logins++
						}
						if r.URL.Path == "/d/to" {
							http.Redirect(out, r, "http://b.example/y", http.StatusFound)
						}
					}))
				}
				o := w.options("http://a.example/d/")
				u := uri.MustParse(c.url)
				if strings.Contains(c.url, "@") {
					o.Scope.Reach = mirror.Host
				}
				item := frontier.Item{
					Key: frontier.KeyOf(cmp.Or(c.key, c.url)), URL: c.url, Host: u.Host(), Depth: c.depth,
					Meta: []byte(c.meta),
				}
				plantRun(t, o.Dir, `{"seeds":["http://b.example/","http://www.a.example/"]}`, item)
				run(t, o)
				mu.Lock()
				defer mu.Unlock()
				found := c.asked == ""
				for _, got := range asked {
					found = found || got == c.asked
					if strings.HasPrefix(got, "http://b.") || got == "http://a.example/x" {
						t.Errorf("%s was requested", got)
					}
				}
				if !found || logins > 0 {
					t.Errorf("requests %q, %d with a login", asked, logins)
				}
			})
		})
	}
}

// TestForgedSource checks that a row of the database does not count as found by
// the running process if another program has copied the source of a row of this
// process, unchanged or with another page.
func TestForgedSource(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(meta string) string{
		"copied": func(meta string) string { return meta },
		"changed": func(meta string) string {
			return strings.NewReplacer("http://a.example/d/", "http://127.0.0.1/", "8.8.4.1", "127.0.0.1").Replace(meta)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				o := w.options("http://a.example/d/")
				o.Scope.Reach = mirror.Any
				forged := 0
				w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
					switch r.URL.Path {
					case "/d/":
						out.Header().Set("Content-Type", "text/html")
						out.Write([]byte("<a href=x><a href=y>"))
					case "/d/x":
						forged += plantCopy(t, o.Dir, forge)
					}
				}))
				w.web("127.0.0.1", webSite{"/x": "secret\n", "/robots.txt": "secret\n"}, "127.0.0.1")
				run(t, o)
				if forged == 0 {
					t.Error("no row was forged")
				}
				for _, to := range w.dialed {
					if strings.HasPrefix(to, "127.0.0.1") {
						t.Errorf("connection to %s", to)
					}
				}
			})
		})
	}
}

// plantCopy adds a URL on loopback to the database of a running mirror. Its meta
// is the result of forge for the meta of a pending row. It returns the number of
// new rows.
func plantCopy(t *testing.T, dir string, forge func(meta string) string) int {
	f, err := sqlite.Open(t.Context(), "sqlite:"+filepath.Join(dir, "fetch.db"))
	if err != nil {
		t.Error(err)
		return 0
	}
	defer f.Close()
	for it, err := range f.Items(t.Context(), frontier.Pending) {
		if err != nil {
			t.Error(err)
			break
		}
		if strings.Contains(string(it.Meta), "peer") {
			const url = "http://127.0.0.1/x"
			n, err := f.Add(t.Context(), []frontier.Item{{
				Key: frontier.KeyOf(url), URL: url, Host: "127.0.0.1", Depth: it.Depth, Meta: []byte(forge(string(it.Meta))),
			}})
			if err != nil {
				t.Error(err)
			}
			return n
		}
	}
	return 0
}
