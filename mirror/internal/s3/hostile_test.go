package s3

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/short"
)

// page returns a page of a list with a continuation token.
func page(token int, contents string) string {
	return fmt.Sprintf(`<?xml version="1.0"?><ListBucketResult><IsTruncated>true</IsTruncated>
		<NextContinuationToken>%d</NextContinuationToken>%s</ListBucketResult>`, token, contents)
}

// endless writes text until the client closes the connection. It returns the
// number of bytes.
func endless(w io.Writer, text string) {
	for {
		if _, err := io.WriteString(w, strings.Repeat(text, 1000)); err != nil {
			return
		}
	}
}

// raw writes text to the connection of w and closes it.
func raw(w http.ResponseWriter, text string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	io.WriteString(conn, text)
	conn.Close()
}

// TestHostileList lists the objects of servers whose lists have no end, are too
// long, or are no lists.
func TestHostileList(t *testing.T) {
	const mebibyte = 1 << 20
	for _, test := range []struct {
		name     string
		serve    func(w http.ResponseWriter, n int) // n is the number of the request
		text     string                             // part of the error
		requests int                                // maximum number of requests
		memory   uint64                             // maximum number of allocated bytes
	}{
		{"page with many empty elements", func(w http.ResponseWriter, n int) {
			io.WriteString(w, page(n, strings.Repeat("<Contents/>", 1_400_000)))
		}, "too long", 9, 80 * mebibyte},
		{"many empty elements in a small page", func(w http.ResponseWriter, n int) {
			io.WriteString(w, page(n, strings.Repeat("<Contents/>", 150_000)))
		}, "too long", 9, 20 * mebibyte},
		{"many attributes in a small page", func(w http.ResponseWriter, n int) {
			io.WriteString(w, "<ListBucketResult "+strings.Repeat(`a=""`, 450_000)+"></ListBucketResult>")
		}, "too long", 9, 30 * mebibyte},
		{"endless page", func(w http.ResponseWriter, _ int) { endless(w, "<Contents><Key>a</Key></Contents>") }, "too long", 9, 50 * mebibyte},
		{"endless text", func(w http.ResponseWriter, _ int) { endless(w, "x") }, "too long", 9, 200 * mebibyte},
		{"endless error", func(w http.ResponseWriter, _ int) { w.WriteHeader(403); endless(w, "<Error><Code>x") }, "too long", 9, 50 * mebibyte},
		{"large error", func(w http.ResponseWriter, _ int) {
			w.WriteHeader(403)
			io.WriteString(w, "<Error><Code>X</Code><Message>"+strings.Repeat("m", 15*mebibyte)+"</Message></Error>")
		}, "too long", 9, 100 * mebibyte},
		{"large error in a list", func(w http.ResponseWriter, _ int) {
			io.WriteString(w, "<Error><Code>X</Code><Message>"+strings.Repeat("m", 3*mebibyte/2)+"</Message></Error>")
		}, "too long", 9, 50 * mebibyte},
		{"long names", func(w http.ResponseWriter, n int) {
			io.WriteString(w, page(n, fmt.Sprintf("<Contents><Key>%c%s</Key></Contents>", 'z'-n, strings.Repeat("\x7f", 3*mebibyte/2))))
		}, "name", 9, 50 * mebibyte},
		{"empty pages without end", func(w http.ResponseWriter, n int) { io.WriteString(w, page(n, "")) }, "pages without an object", 102, 400 * mebibyte},
		{"the same page without end", func(w http.ResponseWriter, n int) {
			io.WriteString(w, page(n, "<Contents><Key>a</Key></Contents>"))
		}, "repeats the list", 3, 50 * mebibyte},
		{"two pages in turn", func(w http.ResponseWriter, n int) {
			io.WriteString(w, page(n, fmt.Sprintf("<Contents><Key>%c</Key></Contents>", 'a'+n%2)))
		}, "repeats the list", 4, 50 * mebibyte},
		{"web page", func(w http.ResponseWriter, _ int) { io.WriteString(w, "<html><p>Welcome<br></html>") }, "is not a list", 9, 50 * mebibyte},
		{"text", func(w http.ResponseWriter, _ int) { io.WriteString(w, "It works!") }, "is not a list", 9, 50 * mebibyte},
		{"no text", func(http.ResponseWriter, int) {}, "is not a list", 9, 50 * mebibyte},
		{"lost connection", func(w http.ResponseWriter, n int) {
			raw(w, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"+page(n, ""))
		}, "unexpected EOF", 9, 50 * mebibyte},
		{"invalid chunk", func(w http.ResponseWriter, n int) {
			raw(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;"+strings.Repeat("x", 20_000)+"\r\n<\r\n")
		}, "line too long", 9, 50 * mebibyte},
		{"long header", func(w http.ResponseWriter, n int) {
			raw(w, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 70_000)+"\r\n\r\n")
		}, "headers exceeded", 9, 50 * mebibyte},
		{"truncated page", func(w http.ResponseWriter, n int) { io.WriteString(w, page(n, "<Contents><Key>a")) }, "XML document", 9, 50 * mebibyte},
	} {
		t.Run(test.name, func(t *testing.T) {
			short.Sample(t, 4)
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests++
				test.serve(w, requests)
			}))
			defer server.Close()
			s := openAs(t, strings.TrimPrefix(server.URL, "http://"), "warcs", environment(peer.User, peer.Password))
			s.api.pause = time.Nanosecond
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var err error
			for _, err = range s.List(t.Context(), "") {
				if err != nil {
					break
				}
			}
			runtime.ReadMemStats(&after)
			switch {
			case err == nil:
				t.Fatal("the list succeeded")
			case !strings.Contains(err.Error(), test.text), len(err.Error()) > 70_000, strings.Contains(err.Error(), "OK"),
				strings.Contains(err.Error(), "permission") && !strings.Contains(test.name, "error"):
				t.Errorf("error %.200s (%d bytes)", err, len(err.Error()))
			}
			if fault := fetch.FaultOf(err); fault == fetch.Internal {
				t.Errorf("error %.200s without a Fault", err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; requests > test.requests || used > test.memory {
				t.Errorf("%d requests, %d bytes allocated", requests, used)
			}
			t.Logf("%d requests, %d MiB, %v: %.200s", requests, (after.TotalAlloc-before.TotalAlloc)>>20, fetch.FaultOf(err), err)
		})
	}
}

// TestSlowBody lists the objects of servers that send a list, or an error, without
// end and slowly. The time limit ends the request.
func TestSlowBody(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusForbidden} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, "<ListBucketResult>")
			w.(http.Flusher).Flush()
			<-r.Context().Done() // the client closes the connection
		}))
		s := openAs(t, strings.TrimPrefix(server.URL, "http://"), "warcs", environment(peer.User, peer.Password))
		s.api.transport.bodyTime, s.api.pause = time.Millisecond, time.Nanosecond
		var err error
		for _, err = range s.List(t.Context(), "") {
			if err != nil {
				break
			}
		}
		server.Close()
		if fetch.FaultOf(err) != fetch.Timeout || !strings.Contains(err.Error(), "takes too long") {
			t.Errorf("status %d: %v", status, err)
		}
	}
}

// TestManyNames checks that a list ends before its names need more than 64 MiB of
// memory. A caller also needs memory for short names.
func TestManyNames(t *testing.T) {
	for length, most := range map[int]int{7: 340_000, 50: 278_000, 1024: 56_000} {
		var progress listProgress
		page, names := make([]listed, 1000), 0
		for {
			for i := range page {
				page[i].Key = fmt.Sprintf("%0*x", length, names+i)
			}
			if err := progress.check(page, time.Second); err != nil {
				if fetch.FaultOf(err) != fetch.TooLarge {
					t.Error(err)
				}
				break
			}
			names += len(page)
		}
		if names < most*9/10 || names > most {
			t.Errorf("%d names of %d bytes, want at most %d", names, length, most)
		}
	}
}

// TestSlowList checks that a list ends if the server sends few objects in a long
// time, and that a long list does not.
func TestSlowList(t *testing.T) {
	for _, c := range []struct {
		name    string
		objects int // of each page
		took    time.Duration
		want    fetch.Fault // or 0 for success
	}{
		{"a page with one object each minute", 1, time.Minute, fetch.Timeout},
		{"an empty page each minute", 0, time.Minute, fetch.Timeout},
		{"slow pages", 1000, 90 * time.Second, 0},
		{"small pages", 1, 100 * time.Millisecond, 0},
	} {
		var progress listProgress
		var err error
		for n := 0; n < 90 && err == nil; n++ {
			page := make([]listed, c.objects)
			for i := range page {
				page[i].Key = fmt.Sprintf("%08d", n*c.objects+i)
			}
			err = progress.check(page, c.took)
		}
		if fetch.FaultOf(err) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
