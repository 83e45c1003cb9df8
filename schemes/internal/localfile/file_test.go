package localfile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func schemes() []fetch.Scheme { return Schemes(Options{}) }

func newClient(t testing.TB, o Options) *fetch.Client {
	c := fetch.New(fetch.Options{Policy: fetch.Typed()}, Schemes(o)...)
	t.Cleanup(func() { c.Close() })
	return c
}

// urlOf returns the file URL of a local path.
func urlOf(path string) string { return "file://" + uri.Escape(path, uri.Path) }

func write(t testing.TB, path string, content []byte) string {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// get fetches a URL that the user entered, and reads the complete body.
func get(t testing.TB, c *fetch.Client, url string, change ...func(*fetch.Request)) (*fetch.Response, []byte, error) {
	t.Helper()
	u, err := fetch.ParseURL(url)
	if err != nil {
		return nil, nil, err
	}
	req := &fetch.Request{URL: u}
	for _, f := range change {
		f(req)
	}
	resp, err := c.Do(context.Background(), req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, b, err
}

func TestContract(t *testing.T) {
	for name, size := range map[string]int{"small": 1000, "large": 300 << 10} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			content := bytes.Repeat([]byte("0123456789abcde\n"), size/16)
			fetchtest.Run(t, fetchtest.Suite{
				Schemes:  schemes,
				Local:    true,
				Document: urlOf(write(t, filepath.Join(dir, "a b?c#d%.txt"), content)),
				Body:     content,
				Missing:  urlOf(filepath.Join(dir, "missing")),
				Menu:     urlOf(dir),
				Names:    []string{"a b?c#d%.txt"},
				Rejected: []string{"file://evil/x", "file:x", "file:///a%2f..%2fb"},
			})
		})
	}
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		url  string
		req  fetch.Request
		want []scheme.Step
	}{
		{"file:///etc/motd", fetch.Request{}, []scheme.Step{{Verb: "OPEN", Arg: "/etc/motd", Else: "LIST"}}},
		{"file:/etc/motd", fetch.Request{}, []scheme.Step{{Verb: "OPEN", Arg: "/etc/motd", Else: "LIST"}}},
		{"FILE://LocalHost/etc/motd#top", fetch.Request{}, []scheme.Step{{Verb: "OPEN", Arg: "/etc/motd", Else: "LIST"}}},
		{"file:///etc/", fetch.Request{}, []scheme.Step{{Verb: "LIST", Arg: "/etc"}}},
		{"file:///", fetch.Request{}, []scheme.Step{{Verb: "LIST", Arg: "/"}}},
		{"file:///etc/..", fetch.Request{}, []scheme.Step{{Verb: "LIST", Arg: "/"}}},
		{"file:///etc/motd", fetch.Request{Op: fetch.Stat}, []scheme.Step{{Verb: "STAT", Arg: "/etc/motd"}}},
		{"file:///log", fetch.Request{Range: fetch.Range{First: -10}}, []scheme.Step{{Verb: "OPEN", Arg: "/log", Else: "LIST"}, {Verb: "SEEK", Arg: "-10"}}},
	} {
		c.req.URL = uri.MustParse(c.url)
		if got, err := schemes()[0].Plan(&c.req); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, %v, want %v", c.url, got, err, c.want)
		}
	}
}

func TestRejectedURLs(t *testing.T) {
	c := newClient(t, Options{})
	for _, r := range []struct {
		url   string
		fault fetch.Fault
		note  string
	}{
		{"file://evil/x", fetch.BadAddress, "another host, to be asked by nobody"},
		{"file://127.0.0.1/etc/motd", fetch.BadAddress, "an address is no local host"},
		{"file://[::1]/etc/motd", fetch.BadAddress, "nor is this"},
		{"file://localhost./etc/motd", fetch.BadAddress, "nor a name with a dot"},
		{"file://local%68ost/etc/motd", fetch.BadAddress, "nor a disguised one"},
		{"file://user@localhost/etc/motd", fetch.BadURL, "user"},
		{"file://@/etc/motd", fetch.BadURL, "empty user"},
		{"file://localhost:80/etc/motd", fetch.BadURL, "port"},
		{"file://localhost:/etc/motd", fetch.BadURL, "empty port"},
		{"file:x", fetch.BadURL, "relative"},
		{"file:", fetch.BadURL, "nothing"},
		{"file://localhost", fetch.BadURL, "no path"},
		{"file:../x", fetch.BadURL, "relative and up"},
		{"file:///a%2f..%2fb", fetch.BadURL, "encoded slash"},
		{"file:///a%2Fb", fetch.BadURL, "encoded slash in upper case"},
		{"file:///etc/motd%00.txt", fetch.BadURL, "NUL"},
		{"file:///etc/motd?x", fetch.BadURL, "query"},
		{"file:///etc/motd?", fetch.BadURL, "empty query"},
	} {
		_, _, err := get(t, c, r.url)
		if fetch.FaultOf(err) != r.fault {
			t.Errorf("%s (%s): got %v, want %v", r.url, r.note, err, r.fault)
		}
		u, _ := fetch.ParseURL(r.url)
		if _, err := c.Plan(&fetch.Request{URL: u}); fetch.FaultOf(err) != r.fault {
			t.Errorf("plan %s (%s): got %v, want %v", r.url, r.note, err, r.fault)
		}
	}
}

// TestReferral checks that only local directories can link to file URLs.
func TestReferral(t *testing.T) {
	c := newClient(t, Options{})
	path := write(t, filepath.Join(t.TempDir(), "x"), []byte("secret"))
	for from, want := range map[string]error{"http://a/": fetch.BadReferral, "gopher://a/1": fetch.BadReferral, "file:///": nil} {
		_, _, err := get(t, c, urlOf(path), func(r *fetch.Request) { r.From = &fetch.Source{URL: uri.MustParse(from)} })
		if !errors.Is(err, want) {
			t.Errorf("from %s: got %v, want %v", from, err, want)
		}
	}
}

func TestRoot(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "inside")
	if err := os.MkdirAll(filepath.Join(inside, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "secret"), []byte("secret"))
	write(t, filepath.Join(inside, "sub", "a"), []byte("public"))
	for link, target := range map[string]string{
		"up": "../secret", "absolute": filepath.Join(dir, "secret"), "out": "..", "good": "sub/a",
	} {
		if err := os.Symlink(target, filepath.Join(inside, link)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(inside)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	c := newClient(t, Options{Root: root})
	for _, r := range []struct {
		url, want string
		fault     fetch.Fault
	}{
		{"file:///sub/a", "public", 0},
		{"file:///good", "public", 0},
		{"file:///sub/../../../sub/a", "public", 0}, // dot segments above the root
		{"file:///%2e%2e/secret", "", fetch.NotFound},
		{"file:///../secret", "", fetch.NotFound},
		{"file:///up", "", fetch.BadAddress},
		{"file:///absolute", "", fetch.BadAddress},
		{"file:///out/secret", "", fetch.BadAddress},
		{"file:///out/", "", fetch.BadAddress},
		{urlOf(filepath.Join(dir, "secret")), "", fetch.NotFound},
	} {
		_, b, err := get(t, c, r.url)
		if string(b) != r.want || fetch.FaultOf(err) != r.fault {
			t.Errorf("%s: got %q, %v, want %q, %v", r.url, b, err, r.want, r.fault)
		}
	}
	kinds := map[string]fetch.Kind{}
	resp, err := c.Get(t.Context(), "file:///")
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range resp.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		kinds[e.Name] = e.Kind
	}
	want := map[string]fetch.Kind{"sub": fetch.Menu, "good": fetch.Document, "up": 0, "absolute": 0, "out": 0}
	if !reflect.DeepEqual(kinds, want) {
		t.Errorf("got kinds %v, want %v (unknown for a link that leads outside the root)", kinds, want)
	}
}
