package crash

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

// text returns n bytes that do not compress well and depend on the seed.
func text(seed uint64, n int) string {
	b := make([]byte, n)
	for i, x := 0, seed*2+1; i < n; i++ {
		x = x*6364136223846793005 + 1442695040888963407
		b[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 \n"[x>>58]
	}
	return string(b)
}

// pages are the objects of the sites. Two have the same content.
func pages(version int) map[string]string {
	p := map[string]string{
		"pub/one.txt":   "the first\n",
		"pub/copy.txt":  "the first\n",
		"pub/large.txt": text(uint64(version), 200_000),
		"pub/sub/two":   fmt.Sprintf("version %d\n", version),
	}
	if version == 1 {
		p["pub/deleted.txt"] = "gone in version 2\n"
	} else {
		p["pub/new.txt"] = "new in version 2\n"
	}
	return p
}

// web serves the pages over http. A request for /next changes them to the next
// version. The path /N is a body of N bytes.
func web(t *testing.T) string {
	t.Helper()
	var version atomic.Int64
	version.Store(1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "next" {
			version.Add(1)
			return
		}
		now := pages(int(version.Load()))
		body, ok := now[name]
		var n int
		switch _, err := fmt.Sscanf(name, "%d", &n); {
		case name == "pub/":
			w.Header().Set("Content-Type", "text/html")
			for name := range now {
				body += "<a href=/" + name + ">x</a>\n"
			}
			body = sortLines(body)
		case err == nil:
			body = text(uint64(n), n)
		case !ok:
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%d-%x"`, len(body), hash(body)))
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/pub/"
}

// ftp serves the pages over ftp.
func ftp(t *testing.T) string {
	s := peer.Vsftpd(t, peer.FTPOptions{})
	for name, text := range pages(1) {
		s.Put(name, []byte(text))
	}
	return "ftp://" + s.Addr + "/pub/"
}

// gopher serves the pages over gopher.
func gopher(t *testing.T) string {
	s := peer.Gophernicus(t, peer.GophernicusOptions{})
	for name, text := range pages(1) {
		s.Put(name, []byte(text))
	}
	return "gopher://" + s.Addr + "/1/pub"
}

// news serves two groups with an article in both.
func news(t *testing.T) string {
	s := peer.INN(t, peer.INNOptions{Groups: []string{"local.test", "local.other"}})
	for n := range 4 {
		s.Feed(fmt.Sprintf("Path: elsewhere.example.org!not-for-mail\r\nFrom: Alice <alice@example.org>\r\nNewsgroups: %s\r\n"+
			"Subject: number %d\r\nDate: Mon, 01 Jan 2024 00:00:00 +0000\r\nMessage-ID: <%d@example.org>\r\n\r\n%s\r\n",
			[]string{"local.test", "local.test,local.other"}[n/3], n, n, text(uint64(n), 300)))
	}
	return "nntp://" + s.Addr + "/local.test"
}
