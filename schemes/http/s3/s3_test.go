package s3

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// big is binary data that exceeds all buffers.
var big = bytes.Repeat([]byte("0123456789abcdef\x00\xff\r\n"), 100_000)

// environment returns a function like os.Getenv for the access key of the peer.
func environment(more ...string) func(string) string {
	values := map[string]string{"AWS_ACCESS_KEY_ID": peer.User, "AWS_SECRET_ACCESS_KEY": peer.Password}
	for i := 0; i+1 < len(more); i += 2 {
		values[more[i]] = more[i+1]
	}
	return func(name string) string { return values[name] }
}

// put creates an object with an unsigned request.
func put(t *testing.T, addr, path string, body []byte) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPut, "http://"+addr+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("PUT %s: %s", path, resp.Status)
	}
}

// TestServers runs the shared tests with two S3 servers.
func TestServers(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) string{
		"versitygw": func(t *testing.T) string {
			s := peer.Versitygw(t, "bucket")
			for key, body := range map[string][]byte{"dir/data.bin": big, "dir/a b#?+%.txt": []byte("x"), "dir/sub/y": nil, "top": []byte("top"), "empty": nil} {
				name := filepath.Join(s.Root, "bucket", key)
				if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, body, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			return s.Addr
		},
		"gofakes3": func(t *testing.T) string {
			s := peer.GoFakeS3(t, "bucket")
			for key, body := range map[string][]byte{"dir/data.bin": big, "dir/a%20b%23%3F%2B%25.txt": []byte("x"), "dir/sub/y": []byte("y"), "top": []byte("top"), "empty": nil} {
				put(t, s.Addr, "/bucket/"+key, body)
			}
			return s.Addr
		},
	} {
		t.Run(name, func(t *testing.T) {
			addr := start(t)
			o := Options{Endpoint: "http://" + addr, Getenv: environment()}
			fetchtest.Run(t, fetchtest.Suite{
				Schemes:  func() []fetch.Scheme { return Schemes(o) },
				Document: "s3://bucket/dir/data.bin", Configured: true,
				Body:    big,
				Missing: "s3://bucket/nosuch",
				Menu:    "s3://bucket/dir/",
				Names:   []string{"data.bin", "a b#?+%.txt", "sub"},
				Rejected: []string{"s3://b/x", "s3:///x", "s3://user:secret@bucket/x", "s3://bucket/x?a=b", "s3://bucket:1/x", "s3://bucket/dir/?versionId=1",
					"s3://bucket/" + strings.Repeat("k", maxKey+1)},
			})
			c := schemetest.NewClient(t, Schemes(o))
			for _, test := range []struct{ name, url, want string }{
				{"root", "s3://bucket/", "menu of 3"},
				{"root without a slash", "s3://bucket", "menu of 3"},
				{"special characters", "s3://bucket/dir/a%20b%23%3F%2B%25.txt", "document of 1 bytes"},
				{"folder without a slash", "s3://bucket/dir", "menu of 3"},
				{"no such folder", "s3://bucket/none/", "not-found"},
				{"no such bucket", "s3://nosuchbucket/", "not-found"},
			} {
				if got := schemetest.Summary(c.Get(t.Context(), test.url)); got != test.want {
					t.Errorf("%s: %s, want %s", test.name, got, test.want)
				}
			}
		})
	}
}

// TestKeys rejects wrong keys, and reads without a key.
func TestKeys(t *testing.T) {
	s := peer.Versitygw(t, "bucket")
	if err := os.WriteFile(filepath.Join(s.Root, "bucket", "x"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "credentials")
	text := "[default]\naws_access_key_id = " + peer.User + "\naws_secret_access_key = " + peer.Password + "\n[wrong]\naws_access_key_id = x\naws_secret_access_key = x\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := func(name string) string { return map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file}[name] }
	for _, test := range []struct {
		name    string
		options Options
		want    string
	}{
		{"environment", Options{Getenv: environment()}, "document of 1 bytes"},
		{"file", Options{Getenv: empty}, "document of 1 bytes"},
		{"other profile", Options{Getenv: func(n string) string {
			return map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file, "AWS_PROFILE": "wrong"}[n]
		}}, "auth"},
		{"missing profile", Options{Getenv: func(n string) string {
			return map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file, "AWS_PROFILE": "none"}[n]
		}}, "auth"},
		{"wrong secret", Options{Getenv: environment("AWS_SECRET_ACCESS_KEY", "wrong")}, "auth"},
		{"wrong region", Options{Getenv: environment(), Region: "eu-west-1"}, "server-perm"},
		{"anonymous", Options{Getenv: environment(), Anonymous: true}, "auth"},
		{"no key", Options{}, "auth"},
		{"invalid region", Options{Region: "a/b"}, "usage"},
		{"invalid endpoint", Options{Endpoint: "ftp://x/"}, "usage"},
		{"endpoint with a login", Options{Endpoint: "http://a:b@127.0.0.1/"}, "usage"},
	} {
		if test.options.Endpoint == "" {
			test.options.Endpoint = "http://" + s.Addr
		}
		c := schemetest.NewClient(t, Schemes(test.options))
		if got := schemetest.Summary(c.Get(t.Context(), "s3://bucket/x")); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestVersions reads an earlier version of an object.
func TestVersions(t *testing.T) {
	s := peer.GoFakeS3(t, "bucket")
	req, _ := http.NewRequest(http.MethodPut, "http://"+s.Addr+"/bucket?versioning", strings.NewReader(
		`<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>Enabled</Status></VersioningConfiguration>`))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	put(t, s.Addr, "/bucket/x", []byte("one"))
	c := schemetest.NewClient(t, Schemes(Options{Endpoint: "http://" + s.Addr, Getenv: environment()}))
	first, _, err := schemetest.Read(t, c, "s3://bucket/x")
	if err != nil {
		t.Fatal(err)
	}
	put(t, s.Addr, "/bucket/x", []byte("three"))
	version := first.Header.Get("x-amz-version-id")
	for url, want := range map[string]string{"s3://bucket/x": "three", "s3://bucket/x?versionId=" + version: "one"} {
		if _, got, err := schemetest.Read(t, c, url); got != want {
			t.Errorf("%s: %q, %v", url, got, err)
		}
	}
}

// A fakeServer answers requests with fixed responses.
type fakeServer struct {
	*httptest.Server
	requests []string
}

func newFake(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) *fakeServer {
	s := &fakeServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests = append(s.requests, r.Method+" "+r.RequestURI)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

const listHead = `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`

// TestHostileLists lists buckets of servers that send wrong lists.
func TestHostileLists(t *testing.T) {
	object := "<Contents><Key>k</Key><Size>1</Size></Contents>"
	for _, test := range []struct {
		name, body string
		want       string
	}{
		{"repeated token", listHead + "<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>" + object + "</ListBucketResult>", "loop"},
		{"no token", listHead + "<IsTruncated>true</IsTruncated>" + object + "</ListBucketResult>", "protocol"},
		{"long token", listHead + "<IsTruncated>true</IsTruncated><NextContinuationToken>" + strings.Repeat("t", maxToken+1) + "</NextContinuationToken></ListBucketResult>", "protocol"},
		{"other document", "<html></html>", "protocol"},
		{"no document", "hello", "protocol"},
		{"cut", listHead + object, "protocol"},
		{"entity", `<!DOCTYPE x [<!ENTITY a "aaaa">]>` + listHead + "<Contents><Key>&a;</Key></Contents></ListBucketResult>", "protocol"},
		{"endless", listHead + strings.Repeat(" ", maxPage), "too-large"},
		{"many elements", listHead + strings.Repeat("<a/>", maxTags) + "</ListBucketResult>", "too-large"},
		{"bad encoding", listHead + "<EncodingType>url</EncodingType><Contents><Key>%zz</Key></Contents></ListBucketResult>", "protocol"},
		{"redirect", "307", "server-perm"},
		{"error", "503", "server-temp"},
		{"valid", listHead + object + "</ListBucketResult>", "menu of 1"},
	} {
		s := newFake(t, func(w http.ResponseWriter, r *http.Request) {
			switch test.body {
			case "307":
				w.Header().Set("Location", "http://127.0.0.1:1/bucket")
				w.WriteHeader(307)
			case "503":
				w.WriteHeader(503)
			}
			io.WriteString(w, test.body)
		})
		c := schemetest.NewClient(t, Schemes(Options{Endpoint: s.URL, Getenv: environment()}))
		if got := schemetest.Summary(c.Get(t.Context(), "s3://bucket/")); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		c.Close()
	}
	n := 0
	s := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		fmt.Fprintf(w, "%s<IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken></ListBucketResult>", listHead, n)
	})
	c := schemetest.NewClient(t, Schemes(Options{Endpoint: s.URL}))
	if got := schemetest.Summary(c.Get(t.Context(), "s3://bucket/")); got != "protocol" || n > maxEmpty+2 {
		t.Errorf("empty pages: %s after %d requests", got, n)
	}
}

// TestPages lists the keys of several pages, which some servers encode.
func TestPages(t *testing.T) {
	pages := map[string]string{
		"": listHead + "<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>a b&amp;c</NextContinuationToken>" +
			"<CommonPrefixes><Prefix>p/a%2F/</Prefix></CommonPrefixes><Contents><Key>p/a+b%01</Key><Size>3</Size><LastModified>2001-02-03T04:05:06.000Z</LastModified></Contents>" +
			"<Contents><Key>p/..</Key></Contents><Contents><Key>p/</Key></Contents><Contents><Key>p/x%2F..%2Fy</Key></Contents></ListBucketResult>",
		"a b&c": listHead + "<IsTruncated>false</IsTruncated><CommonPrefixes><Prefix>p//</Prefix></CommonPrefixes><Contents><Key>p/a+b%01</Key><Size>-1</Size></Contents>" +
			"<Contents><Key>elsewhere</Key></Contents><Contents><Key>p/�</Key></Contents></ListBucketResult>",
	}
	s := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, pages[r.URL.Query().Get("continuation-token")])
	})
	c := schemetest.NewClient(t, Schemes(Options{Endpoint: s.URL, Getenv: environment()}))
	all, err := schemetest.List(t, c, "s3://bucket/p/")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range all {
		got = append(got, fmt.Sprintf("%s %q %s %d", e.Kind, e.Name, e.URL, e.Size))
	}
	want := []string{`menu "a/" s3://bucket/p/a// -1`, `document "a b\x01" s3://bucket/p/a%20b%01 3`, `info ".."  -1`, `info "x/../y"  -1`,
		`menu "/" s3://bucket/p// -1`, `document "a+b%01" s3://bucket/p/a%2Bb%2501 -1`, `info "elsewhere"  -1`, "info \"\ufffd\"  -1"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, target := range s.requests {
		if _, err := url.ParseRequestURI(strings.TrimPrefix(target, "GET ")); err != nil {
			t.Error(err)
		}
	}
	// A path with empty segments and with dots is sent unchanged.
	if _, _, err := schemetest.Read(t, c, "s3://bucket/a//%2E%2E/b"); err != nil {
		t.Error(err)
	}
	if last := s.requests[len(s.requests)-1]; last != "GET /bucket/a//../b" {
		t.Errorf("request %q", last)
	}
}

// TestChanged resumes an object that has changed. Some servers ignore If-Range.
func TestChanged(t *testing.T) {
	body := strings.Repeat("x", 1000)
	s := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"new"`)
		if field := r.Header.Get("Range"); field != "" {
			w.Header().Set("Content-Range", "bytes 500-999/1000")
			w.WriteHeader(206)
			io.WriteString(w, body[500:])
			return
		}
		io.WriteString(w, body)
	})
	c := schemetest.NewClient(t, Schemes(Options{Endpoint: s.URL, Getenv: environment()}))
	req := schemetest.NewRequest(t, "s3://bucket/k")
	req.Range, req.IfSame = fetch.Range{First: 500}, `"old"`
	resp, text, err := schemetest.ReadRequest(t, c, req)
	if err != nil || resp.Offset != 0 || text != body {
		t.Errorf("%d bytes from %d, %v", len(text), resp.Offset, err)
	}
}

// TestDigest compares objects with the checksums of the server.
func TestDigest(t *testing.T) {
	for _, test := range []struct{ name, value, kind, want string }{
		{"crc32", "NSRBwg==", "FULL_OBJECT", "crc32=352441c2"},
		{"crc32", "NSRBwg==", "", "crc32=352441c2"},
		{"sha256", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=-3", "", ""},
		{"sha256", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", "COMPOSITE", ""},
		{"crc64nvme", "NSRBwg==", "FULL_OBJECT", ""},
	} {
		h := fetch.Header{{Name: "x-amz-checksum-" + test.name, Value: test.value}, {Name: "x-amz-checksum-type", Value: test.kind}}
		if got := digestOf(h); got != test.want {
			t.Errorf("%s %s: %q", test.name, test.value, got)
		}
	}
}

// TestPlans checks the requests for AWS and for other servers.
func TestPlans(t *testing.T) {
	for _, test := range []struct{ bucket, key, want string }{
		{"bucket", "a b", "bucket.s3.us-east-1.amazonaws.com /a%20b"},
		{"a.bucket", "k", "s3.us-east-1.amazonaws.com /a.bucket/k"},
		{"bucket", "", "bucket.s3.us-east-1.amazonaws.com /"},
	} {
		s, err := newServer(Options{Getenv: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		if c := s.call(test.bucket, test.key); c.host+" "+c.path != test.want {
			t.Errorf("%s %s: %s %s", test.bucket, test.key, c.host, c.path)
		}
	}
	schemetest.Plans(t, Schemes(Options{Endpoint: "http://127.0.0.1:9"})[0], map[string]string{
		"s3://bucket/a%2Fb?versionId=x%26y": "GET /bucket/a/b?versionId=x%26y",
		"s3://bucket/p/":                    "GET /bucket?delimiter=%2F&encoding-type=url&list-type=2&max-keys=1000&prefix=p%2F",
	})
}
