package servecmd

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/gateway"
	"github.com/anyurl/fetch/gateway/replay"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/warctest"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// openSample opens an archive with a page that requests an object of the archive
// and one of the server at the address outside.
func openSample(t *testing.T, outside string) *warc.Archive {
	t.Helper()
	return warctest.Open(t, warc.Options{}, func(w *warc.Writer) {
		page := `<title>loading</title><script>
	const read = url => fetch(url).then(r => r.status + ' ' + r.statusText, () => 'failed')
	Promise.all([fetch('/data').then(r => r.text()), read('http://` + outside + `/leak')]).then(all => document.title = [location.href, ...all].join())
	</script>`
		for url, body := range map[string]string{"https://page.test/": page, "https://page.test/data": "data"} {
			c := warc.Capture{URL: uri.MustParse(url), Date: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
			head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n", len(body))
			if _, err := w.Write(c.Response(strings.NewReader(head + body))); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestReplayBrowser opens the list of archived pages in a browser without a
// window, and the page in the list. The page reaches nothing but the archive.
func TestReplayBrowser(t *testing.T) {
	t.Parallel()
	peer.Need(t, "chromium", "chromium")
	peer.NeedRoot(t, "chromium in a network namespace")
	reached := make(chan string, 1)
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case reached <- r.RequestURI:
		default:
		}
	}))
	defer outside.Close()
	archive := gateway.Archive{Name: "sample", Source: openSample(t, strings.TrimPrefix(outside.URL, "http://"))}
	const isList, click = `document.title === 'Archived pages'`, `document.querySelector('li a').click()`
	got := StartReplay(t, archive).Eval(replay.StartURL,
		`until(() => `+isList+`).then(() => `+click+`)`,
		`until(() => document.title.startsWith('https:'), () => `+isList+` && `+click+`).then(() => document.title)`)
	if want := "https://page.test/,data,404 Not Found"; got != want && got != "https://page.test/,data,404 " {
		t.Errorf("the page shows %q, want %q", got, want)
	}
	select {
	case uri := <-reached:
		t.Errorf("the browser requested %s from another server", uri)
	default:
	}
}
