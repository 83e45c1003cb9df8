package mirror_test

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// TestStoredOptions checks that StoredOptions returns the settings of a run
// without credentials, and that a run with stored seeds does not change them.
func TestStoredOptions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		w.web("a.example", webSite{"/": ""})
		o := w.options("http://user:secret@a.example/#part")
		o.WARC = &mirror.WARC{Prefix: "test", Size: 5 << 20, Age: time.Hour, Unchanged: true, KeepTransferCoding: true, Info: fetch.Header{
			{Name: "operator", Value: "An Operator"}, {Name: "description", Value: "text"}, {Name: "isPartOf", Value: "set"},
			{Name: "http-header-user-agent", Value: "agent"}}}
		o.Scope = mirror.Scope{
			Reach: mirror.Host, Include: []*regexp.Regexp{regexp.MustCompile(`a b\.`)}, Depth: -1, Requisites: true,
			Exclude: []*regexp.Regexp{regexp.MustCompile("<x>")}, Accept: []string{"text/*"}, Reject: []string{"image/png"},
			KeepSessionIDs: true, IgnoreParameters: []string{"utm"},
		}
		o.Limits = mirror.Limits{Files: 9, Bytes: 1 << 30, Time: 90 * time.Second, PerHost: 7, FileSize: 1 << 20, MinFree: 1,
			Links: math.MaxInt64, Entries: -5, Queue: 3, URLBytes: 1000, Repeats: 4, Queries: 5, Chained: 6, DeepPaths: 7, Sitemaps: 8}
		o.Hosts, o.PerHost, o.Tries, o.Delay, o.Agent, o.NoFollow = 3, 2, 4, 1500*time.Millisecond, "agent", mirror.ObeyLinks
		o.Mail, o.Speculate, o.FollowLinks, o.MaxDelete = mirror.Maildir, true, true, 0.5
		run(t, o)
		text := content(t, filepath.Join(o.Dir, "options.json"))
		for _, secret := range []string{"secret", "user", o.Dir, "http-header"} {
			if strings.Contains(text, secret) {
				t.Errorf("options.json contains %q: %s", secret, text)
			}
		}
		got, err := mirror.Open(mirror.Location{Dir: o.Dir}).Options(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := o
		want.Client, want.StoredSeeds, want.Seeds = nil, true, []uri.URI{uri.MustParse("http://a.example/")}
		want.WARC = &mirror.WARC{Prefix: "test", Size: 5 << 20, Age: time.Hour, Unchanged: true, KeepTransferCoding: true, Info: o.WARC.Info[:3]}
		want.Limits.Links, want.Limits.Entries = -1, -1
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		got.Client, got.Hosts = o.Client, 1
		run(t, got)
		if again := content(t, filepath.Join(o.Dir, "options.json")); again != text {
			t.Errorf("a run with stored seeds changed options.json: %s", again)
		}
	})
}

// TestStoredFields checks that the fields of Options are stored, except the
// listed ones. A new field must be added to the settings or to the list.
func TestStoredFields(t *testing.T) {
	t.Parallel()
	never := map[string]bool{
		"Dir": true, "Client": true, "StoredSeeds": true, "DiscardOptions": true, "Recheck": true, "MaxLost": true,
		"Marks": true, "Event": true, "Progress": true, "Now": true, "Override": true, "WARC.Dedup": true,
		"Frontier": true, "Worker": true, "Again": true, "Store": true, "KeepLocal": true, "MaxSpool": true,
		"Monitor": true, "Logger": true, "Sink": true, "Scope.Filter": true, "Browser": true, "Stop": true,
	}
	var stored []string
	var visit func(prefix string, typ reflect.Type)
	visit = func(prefix string, typ reflect.Type) {
		for f := range typ.Fields() {
			switch name := prefix + f.Name; {
			case never[name]:
			case f.Name == "WARC":
				visit("WARC.", f.Type.Elem())
			case f.Name == "Scope" || f.Name == "Limits":
				visit(f.Name+".", f.Type)
			default:
				stored = append(stored, name)
			}
		}
	}
	visit("", reflect.TypeFor[mirror.Options]())
	const want = 45 // number of fields that TestStoredOptions compares
	if len(stored) != want {
		t.Errorf("%d fields, want %d: is a new field stored?\n%s", len(stored), want, strings.Join(stored, "\n"))
	}
}

// TestHostileOptions checks the errors for options.json files that are damaged
// or that an attacker has written.
func TestHostileOptions(t *testing.T) {
	t.Parallel()
	const rest = `"tree":true,"scope":{"reach":"prefix"},"limits":{},"hosts":1,"tries":1,"max_delete":0.1,"agent":"fetch","nofollow":"pages"`
	const valid = `{"version":1,"seeds":["http://a.example/"],` + rest + `}`
	replace := func(old, by string) string {
		if !strings.Contains(valid, old) {
			t.Fatalf("no %s", old)
		}
		return strings.Replace(valid, old, by, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"valid":                    {valid, ""},
		"empty":                    {"", "EOF"},
		"truncated":                {valid[:40], "unexpected EOF"},
		"no JSON":                  {"\x00\x01", "invalid character"},
		"two objects":              {valid + valid, "text after"},
		"later version":            {replace(`"version":1`, `"version":2`), "unknown version 2"},
		"no version":               {replace(`"version":1,`, ""), "unknown version 0"},
		"unknown field":            {replace(`"tree":true`, `"tree":true,"output":"/etc/passwd"`), `unknown field "output"`},
		"header fields":            {replace(`"tree":true`, `"tree":true,"header":["Cookie: x"]`), `unknown field "header"`},
		"unknown scope":            {replace(`{"reach":"prefix"}`, `{"reach":"prefix","proxy":"x"}`), `unknown field "proxy"`},
		"no seeds":                 {replace(`"http://a.example/"`, ""), "no seeds"},
		"seeds omitted":            {replace(`"seeds":["http://a.example/"]`, `"seeds_omitted":7`), "list of 7 seeds"},
		"seed with a login":        {replace("http://a.", "http://u:p@a."), "not a normalized URL"},
		"relative seed":            {replace("http://a.example/", "a b"), "not a normalized URL"},
		"seed with a line break":   {replace("http://a.example/", `http://a.example/\n`), "not a normalized URL"},
		"no tree and no WARC":      {replace(`"tree":true`, `"tree":false`), "neither"},
		"unknown reach":            {replace(`"prefix"`, `"galaxy"`), "reach"},
		"pattern":                  {replace(`"reach":"prefix"`, `"reach":"prefix","include":["("]`), "missing closing"},
		"large patterns":           {replace(`"reach":"prefix"`, `"reach":"prefix","include":["x"`+strings.Repeat(`,"(?:x{31}){31}"`, 5000)+`]`), "too much memory"},
		"very many patterns":       {replace(`"reach":"prefix"`, `"reach":"prefix","exclude":[""`+strings.Repeat(`,""`, 1<<20)+`]`), "too much memory"},
		"many patterns":            {replace(`"reach":"prefix"`, `"reach":"prefix","exclude":["x"`+strings.Repeat(`,"/a/path/of/thirty/bytes/[0-9]+"`, 50_000)+`]`), ""},
		"very many hosts":          {replace(`"hosts":1`, `"hosts":1000000000`), "hosts is out of range"},
		"no hosts":                 {replace(`"hosts":1`, `"hosts":0`), "hosts is out of range"},
		"very many connections":    {replace(`"hosts":1`, `"hosts":1,"per_host":100000`), "per_host is out of range"},
		"large number":             {replace(`"hosts":1`, `"hosts":1e400`), "cannot unmarshal"},
		"negative limit":           {replace(`"limits":{}`, `"limits":{"files":-1}`), "files is out of range"},
		"negative delay":           {replace(`"hosts":1`, `"hosts":1,"delay_seconds":-1`), "delay_seconds is out of range"},
		"long delay":               {replace(`"hosts":1`, `"hosts":1,"delay_seconds":1e300`), "delay_seconds is out of range"},
		"share of deleted files":   {replace(`0.1`, `2`), "max_delete is out of range"},
		"format of mailboxes":      {replace(`"tree":true`, `"tree":true,"mailboxes":"mh"`), "mailboxes"},
		"nofollow":                 {replace(`"pages"`, `"x"`), "nofollow"},
		"larger than the limit":    {valid + strings.Repeat(" ", 8<<20), "larger than"},
		"deep nesting":             {strings.Repeat("[", 1<<20), "options.json"},
		"white space at the end":   {valid + "\n\n", ""},
		"no guard, stored as -1":   {replace(`"limits":{}`, `"limits":{"queries":-1}`), ""},
		"wrong type of a sub-form": {replace(`"limits":{}`, `"limits":[]`), "cannot unmarshal"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "options.json"), []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		o, err := mirror.Open(mirror.Location{Dir: dir}).Options(t.Context())
		switch {
		case c.want == "" && (err != nil || !o.StoredSeeds || len(o.Seeds) != 1):
			t.Errorf("%s: %+v, %v", name, o, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	dir := t.TempDir()
	if _, err := mirror.Open(mirror.Location{Dir: dir}).Options(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "options.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := mirror.Open(mirror.Location{Dir: dir}).Options(t.Context()); fetch.FaultOf(err) != fetch.Local || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("symbolic link: %v", err)
	}
}

// TestStoredSeedsTrust checks that stored seeds do not reach private servers,
// that the login of a seed is not used, and that a redirected seed has the same
// scope as a seed of the user.
func TestStoredSeedsTrust(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		seed, addr, want string
		state            string
	}{
		"public server":             {"http://a.example/", "8.8.4.1", "/ /x", "done"},
		"private server":            {"http://a.example/", "10.0.0.7", "", "pending"},
		"loopback":                  {"http://a.example/", "127.0.0.1", "", "pending"},
		"login in a seed":           {"http://u:p@a.example/", "8.8.4.1", "/ /x", "done"},
		"redirect of a public seed": {"http://a.example/moved", "8.8.4.1", "/d/ /d/y /moved", "done"},
		"file":                      {"file:///etc/hostname", "8.8.4.1", "", "pending"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.policy = fetch.Typed()
				site := webSite{"/": "<a href=x>", "/x": "", "/moved": "-> /d/", "/d/": "<a href=y>", "/d/y": ""}
				w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Authorization") != "" {
						t.Errorf("login sent to %s", r.URL)
					}
					site.ServeHTTP(out, r)
				}), c.addr)
				o := w.options(c.seed)
				o.StoredSeeds = true
				if _, err := mirror.Run(t.Context(), o); (c.state == "pending") != errors.Is(err, fetch.Denied) {
					t.Errorf("got %v", err)
				}
				if got := strings.ReplaceAll(w.requests(), "http://a.example/", "/"); got != c.want {
					t.Errorf("requests for %s, want %s", got, c.want)
				}
				if e := outcome(t, o.Dir, strings.Replace(c.seed, "u:p@", "", 1)); e.State != c.state {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}

// TestWarcinfo checks the fields of the warcinfo record.
func TestWarcinfo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		w.web("a.example", webSite{"/": ""})
		o := w.options("http://user:secret@a.example/", "http://a.example/2")
		o.IgnoreRobots, o.WARC.Info = true, fetch.Header{{Name: "operator", Value: "Me"}, {Name: "hostname", Value: "crawler"}}
		run(t, o)
		names, err := filepath.Glob(filepath.Join(o.Dir, "warc/*.warc.gz"))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		f, err := os.Open(names[0])
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := warc.NewReader(f)
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if _, err := io.Copy(&text, r); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"software: fetch", "operator: Me\r\n", "hostname: crawler\r\n", "robots: ignore\r\n",
			"seed: http://a.example/\r\nseed: http://a.example/2\r\n", `settings: {"tree":true,"warc":{`,
		} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("no %q in %s", want, &text)
			}
		}
		for _, secret := range []string{"secret", "user:", o.Dir} {
			if strings.Contains(text.String(), secret) {
				t.Errorf("%q in %s", secret, &text)
			}
		}
	})
}
