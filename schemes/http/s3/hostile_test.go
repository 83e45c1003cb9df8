package s3

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/uri"
)

// listPage returns a page with the given objects, which another page follows.
func listPage(token, objects string) string {
	return listHead + "<IsTruncated>true</IsTruncated><NextContinuationToken>" + token + "</NextContinuationToken>" + objects + "</ListBucketResult>"
}

// TestPagesWithoutEntries lists a folder whose pages have only the object of the
// folder itself, which is no entry.
func TestPagesWithoutEntries(t *testing.T) {
	n := 0
	s := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		fmt.Fprint(w, listPage(fmt.Sprint(n), "<Contents><Key>d/</Key></Contents>"))
	})
	c := schemetest.NewClient(t, Schemes(Options{Endpoint: s.URL}))
	if got := schemetest.Summary(c.Get(t.Context(), "s3://bucket/d/")); got != "protocol" || n > maxEmpty+2 {
		t.Errorf("%s after %d requests", got, n)
	}
}

// A pageServer is the driver of a server that sends pages.
type pageServer struct {
	delay time.Duration
	page  func(n int) string
	pages int
}

func (s *pageServer) Do(ctx context.Context, _ *fetch.Request) (*fetch.Response, error) {
	select {
	case <-time.After(s.delay):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.pages++
	return &fetch.Response{Code: http.StatusOK, Size: -1, Body: io.NopCloser(strings.NewReader(s.page(s.pages)))}, nil
}

// list returns the listing of the folder d.
func (s *pageServer) list(t *testing.T) *fetch.Response {
	t.Helper()
	d := &driver{env: fetch.Env{Now: time.Now, Limit: func(body io.ReadCloser) io.ReadCloser { return body }}, options: Options{Anonymous: true}, web: s}
	var err error
	if d.server, err = newServer(Options{Endpoint: "http://192.0.2.1", Region: "x", Getenv: environment()}); err != nil {
		t.Fatal(err)
	}
	resp, err := d.Do(t.Context(), &fetch.Request{URL: uri.MustParse("s3://bucket/d/")})
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// TestStalledList closes a listing during a Read, as the Client does if no byte
// arrives for the idle time. The request for the next page must end.
func TestStalledList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &pageServer{delay: 20 * time.Second, page: func(n int) string { return listPage(fmt.Sprint(n), "<Contents><Key>d/</Key></Contents>") }}
		resp := server.list(t)
		time.AfterFunc(time.Minute, func() { resp.Body.Close() })
		start := time.Now()
		n, err := resp.Body.Read(make([]byte, 100))
		if took := time.Since(start); err == nil || took != time.Minute {
			t.Errorf("%d bytes after %v: %v", n, took, err)
		}
	})
}

// TestListMemory lists pages that need much memory for their bytes.
func TestListMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a large listing")
	}
	allocated := func(text string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		parsePage([]byte(text))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	attributes := "<ListBucketResult " + strings.Repeat(`a=""`, (maxPage-100)/4) + "></ListBucketResult>"
	if n := allocated(attributes); n > 4*maxPage {
		t.Errorf("attributes: %d MiB", n>>20)
	}
	const pages = 2000
	long := strings.Repeat("x", maxToken-10)
	server := &pageServer{page: func(n int) string { return listPage(fmt.Sprint(n)+long, "<Contents><Key>d/x</Key></Contents>") }}
	resp := server.list(t)
	defer resp.Body.Close()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for buffer := make([]byte, 32<<10); server.pages < pages; {
		if _, err := resp.Body.Read(buffer); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > pages*1000 {
		t.Errorf("tokens: %d KiB for %d pages", used>>10, pages)
	}
}

// TestChallenge checks that a server that requires a login gets only the access
// key, and no login of the user.
func TestChallenge(t *testing.T) {
	for name, getenv := range map[string]func(string) string{"no key": nil, "key": environment()} {
		var sent []string
		s := newFake(t, func(w http.ResponseWriter, r *http.Request) {
			method, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			sent = append(sent, method)
			w.Header().Set("WWW-Authenticate", `Basic realm="r"`)
			w.WriteHeader(http.StatusUnauthorized)
		})
		c := schemetest.NewClient(t, Schemes(Options{Endpoint: s.URL, Getenv: getenv}), func(o *fetch.Options) {
			o.Login = func(context.Context, fetch.Challenge) (*fetch.Credential, error) {
				return &fetch.Credential{User: "alice", Password: "s3cret"}, nil
			}
		})
		want := map[string]string{"no key": "", "key": "AWS4-HMAC-SHA256"}[name]
		if got := schemetest.Summary(c.Get(t.Context(), "s3://bucket/x")); got != "auth" || len(sent) != 1 || sent[0] != want {
			t.Errorf("%s: %s, the server got %q", name, got, sent)
		}
	}
}
