package http

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/uri"
)

// TestDAVServers runs the shared tests with two WebDAV servers.
func TestDAVServers(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef\x00\xff\r\n"), 20_000)
	for name, start := range map[string]func(peer.TB) *peer.Server{"apache": peer.ApacheDAV, "rclone": peer.RcloneDAV} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.Put("dir/data.bin", body)
			s.Put("dir/a b#?%.txt", []byte("x"))
			s.Put("dir/sub/y", []byte("y"))
			root := "dav://" + s.Addr
			fetchtest.Run(t, fetchtest.Suite{
				Schemes:  func() []fetch.Scheme { return Schemes(Options{}) },
				Document: root + "/dir/data.bin",
				Body:     body,
				Missing:  root + "/nosuch",
				Menu:     root + "/dir/",
				Names:    []string{"data.bin", "a b#?%.txt", "sub"},
				Rejected: []string{"dav:///x", "dav://127.0.0.1:25/"},
			})
			c := schemetest.NewClient(t, Schemes(Options{}))
			all, err := schemetest.List(t, c, root+"/dir/")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range all {
				if e.Time.IsZero() && e.Kind == fetch.Document {
					t.Errorf("%s has no time", e.Name)
				}
				got = append(got, fmt.Sprintf("%s %q %s %d", e.Kind, e.Name, strings.TrimPrefix(e.URL.String(), root), e.Size))
			}
			slices.Sort(got)
			want := []string{`document "a b#?%.txt" /dir/a%20b%23%3F%25.txt 1`, fmt.Sprintf(`document "data.bin" /dir/data.bin %d`, len(body)), `menu "sub" /dir/sub/ -1`}
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			if _, err := schemetest.List(t, c, root+"/none/"); fetch.FaultOf(err) != fetch.NotFound {
				t.Errorf("missing collection: %v", err)
			}
			if text := string(s.Log()); name == "apache" && !strings.Contains(text, "PROPFIND /dir/") {
				t.Error("no PROPFIND request")
			}
		})
	}
}

func multistatusOf(responses ...string) string {
	return `<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">` + strings.Join(responses, "") + "</D:multistatus>"
}

func responseOf(href, properties string) string {
	return "<D:response><D:href>" + href + "</D:href><D:propstat><D:prop>" + properties + "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>" +
		"<D:propstat><D:prop><D:getcontentlength>77</D:getcontentlength></D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat></D:response>"
}

// TestDAVListing parses listings, also of hostile servers.
func TestDAVListing(t *testing.T) {
	const folder = "<D:resourcetype><D:collection/></D:resourcetype><D:getcontentlength>4096</D:getcontentlength>"
	for _, test := range []struct{ name, body, want string }{
		{"file", multistatusOf(responseOf("/d/", folder), responseOf("/d/a%20b", "<D:getcontentlength>5</D:getcontentlength>")), `document "a b" dav://h/d/a%20b 5`},
		{"folder with a size", multistatusOf(responseOf("/d/sub/", folder)), `menu "sub" dav://h/d/sub/ -1`},
		{"absolute URL", multistatusOf(responseOf("http://h/d/x", "")), `document "x" dav://h/d/x -1`},
		{"missing properties", multistatusOf(responseOf("/d/x", "")), `document "x" dav://h/d/x -1`},
		{"comments and CDATA", multistatusOf("<!-- x -->", responseOf("<![CDATA[/d/x]]>", "")), `document "x" dav://h/d/x -1`},
		{"another host", multistatusOf(responseOf("http://evil/d/x", "")), `info "http://evil/d/x"  -1`},
		{"another port", multistatusOf(responseOf("http://h:1/d/x", "")), `info "http://h:1/d/x"  -1`},
		{"above", multistatusOf(responseOf("/d/../etc", "")), `info "/d/../etc"  -1`},
		{"deeper", multistatusOf(responseOf("/d/a/b", "")), `info "/d/a/b"  -1`},
		{"encoded slash", multistatusOf(responseOf("/d/a%2Fb", "")), `info "/d/a%2Fb"  -1`},
		{"encoded dots", multistatusOf(responseOf("/d/%2E%2E/", "")), `info "/d/%2E%2E/"  -1`},
		{"script", multistatusOf(responseOf("javascript:alert(1)", "")), `info "javascript:alert(1)"  -1`},
		{"negative size", multistatusOf(responseOf("/d/x", "<D:getcontentlength>-5</D:getcontentlength>")), `document "x" dav://h/d/x -1`},
		{"empty", multistatusOf(), ""},
		{"other document", "<html></html>", "protocol"},
		{"no document", "hello", "truncated"},
		{"cut", multistatusOf(responseOf("/d/x", ""))[:150], "truncated"},
		{"entity", `<!DOCTYPE x [<!ENTITY a "aa">]>` + multistatusOf(responseOf("&a;", "")), "protocol"},
		{"long entity", multistatusOf(responseOf("&"+strings.Repeat("x", maxDAVToken/2)+";", "")), "protocol"},
		{"nested", multistatusOf("<D:response>" + strings.Repeat("<a>", maxDAVDepth+1)), "protocol"},
		{"long text", multistatusOf(responseOf(strings.Repeat("x", 2*maxDAVToken), "")), "too-large"},
		{"long tag", multistatusOf(`<D:response x="` + strings.Repeat("x", 2*maxDAVToken)), "too-large"},
	} {
		m := newMultistatus(strings.NewReader(test.body), uri.MustParse("dav://h/d/"))
		var got []string
		var err error
		for err == nil {
			var e fetch.Entry
			if e, err = m.next(); err == nil {
				got = append(got, fmt.Sprintf("%s %q %s %d", e.Kind, e.Name, e.URL, e.Size))
			}
		}
		if err != io.EOF {
			got = append(got, fetch.FaultOf(err).String())
			if n := len(err.Error()); n > 300 {
				t.Errorf("%s: an error of %d bytes", test.name, n)
			}
		}
		if strings.Join(got, "\n") != test.want {
			t.Errorf("%s: %q, want %q: %v", test.name, got, test.want, err)
		}
	}
}

// TestDAVMemory reads a listing of 100 MiB in constant memory.
func TestDAVMemory(t *testing.T) {
	entry := responseOf("/d/x", strings.Repeat(" ", 1000))
	r := io.MultiReader(strings.NewReader(`<D:multistatus xmlns:D="DAV:">`), &repeated{text: entry, n: 100_000})
	m := newMultistatus(r, uri.MustParse("dav://h/d/"))
	if allocated := testing.AllocsPerRun(1, func() {
		for range 50 {
			if _, err := m.next(); err != nil {
				t.Fatal(err)
			}
		}
	}); allocated > 50*200 {
		t.Errorf("%.0f allocations", allocated)
	}
}

// repeated is a reader that returns text n times.
type repeated struct {
	text string
	n    int
	rest string
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.rest == "" {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n, r.rest = r.n-1, r.text
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// TestDAVUnsupported lists a server without WebDAV, and follows redirects.
func TestDAVUnsupported(t *testing.T) {
	for code, want := range map[int]fetch.Fault{200: fetch.Unsupported, 404: fetch.NotFound, 503: fetch.TryLater, 405: fetch.Denied} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code) }))
		c := schemetest.NewClient(t, Schemes(Options{}))
		if _, err := schemetest.List(t, c, "dav"+strings.TrimPrefix(s.URL, "http")+"/d/"); fetch.FaultOf(err) != want {
			t.Errorf("status %d: %v", code, err)
		}
		c.Close()
		s.Close()
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old/" {
			http.Redirect(w, r, "/new/", http.StatusMovedPermanently)
			return
		}
		w.WriteHeader(http.StatusMultiStatus)
		io.WriteString(w, multistatusOf(responseOf("/new/x", "")))
	}))
	defer s.Close()
	c := schemetest.NewClient(t, Schemes(Options{}))
	all, err := schemetest.List(t, c, "dav"+strings.TrimPrefix(s.URL, "http")+"/old/")
	if err != nil || len(all) != 1 || all[0].Name != "x" || all[0].URL.Scheme() != "dav" {
		t.Errorf("redirect: %v, %v", all, err)
	}
}

func FuzzMultistatus(f *testing.F) {
	f.Add([]byte(multistatusOf(responseOf("/d/x", "<D:getcontentlength>5</D:getcontentlength>"))))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := newMultistatus(bytes.NewReader(text), uri.MustParse("dav://h/d/"))
		for {
			e, err := m.next()
			if err != nil {
				return
			}
			if !e.URL.IsZero() && !strings.HasPrefix(e.URL.String(), "dav://h/d/") {
				t.Errorf("%s", e.URL)
			}
		}
	})
}

// TestDAVLogin checks that a server of dav URLs gets the login for these URLs.
func TestDAVLogin(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user+":"+password != "al:s3cret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="r"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.Method == propfind {
			w.WriteHeader(http.StatusMultiStatus)
			io.WriteString(w, multistatusOf())
		}
	}))
	defer s.Close()
	server := strings.TrimPrefix(s.URL, "http://")
	for _, test := range []struct{ name, url, want string }{
		{"file", "dav://" + server + "/x", "dav://" + server + " "},
		{"collection", "dav://" + server + "/d/", "dav://" + server + " "},
		{"user in the URL", "dav://al@" + server + "/d/", "dav://" + server + " al"},
	} {
		got := ""
		c := schemetest.NewClient(t, Schemes(Options{}), func(o *fetch.Options) {
			o.Login = func(_ context.Context, c fetch.Challenge) (*fetch.Credential, error) {
				got += fmt.Sprintf("%s://%s:%d %s", c.Origin.Scheme, c.Origin.Host, c.Origin.Port, c.User)
				return &fetch.Credential{User: "al", Password: "s3cret"}, nil
			}
		})
		resp, err := c.Get(t.Context(), test.url)
		if err == nil {
			resp.Body.Close()
		}
		if err != nil || got != test.want {
			t.Errorf("%s: login for %q, want %q: %v", test.name, got, test.want, err)
		}
	}
}

// TestDAVAttributes reads a tag with as many attributes as fit. Each of them takes
// many times its size.
func TestDAVAttributes(t *testing.T) {
	list := "<D:multistatus xmlns:D='DAV:'><x " + strings.Repeat("a='' ", maxDAVToken/5-100) + "/></D:multistatus>"
	m := newMultistatus(strings.NewReader(list), uri.MustParse("dav://h/"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := m.next()
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; err != io.EOF || used > 32 {
		t.Errorf("%d MiB allocated, %v", used, err)
	}
}
