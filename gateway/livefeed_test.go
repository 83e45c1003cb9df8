package gateway

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestLiveFeed requests feeds of a directory and of a menu without dates.
func TestLiveFeed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	ftp := peer.Vsftpd(t, peer.FTPOptions{})
	for i, name := range []string{"old", "new <b>", "middle"} {
		ftp.Put("pub/"+name, []byte("x"))
		at := time.Date(2024, 1, []int{1, 9, 5}[i], 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(ftp.Root, "pub", name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	h := newLive(t, nil)
	url := "ftp://" + ftp.Addr + "/pub/"
	page := get(h, "GET", "/live/"+url, navigation...)
	checkResponse(t, page, 200, []string{`href="/live;feed/` + url + `">feed</a>`})
	w := get(h, "GET", "/live;feed/"+url)
	checkResponse(t, w, 200, []string{"Content-Type: application/atom+xml", "<link href=\"http://localhost:8700/live/" + url + "new%20%3Cb%3E\""})
	var feed struct {
		Updated string   `xml:"updated"`
		Titles  []string `xml:"entry>title"`
	}
	if err := xml.Unmarshal(w.Body.Bytes(), &feed); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(feed.Titles, ","); got != "new <b>,middle,old" || !strings.HasPrefix(feed.Updated, "2024-01-09T") {
		t.Errorf("updated %s, entries %s", feed.Updated, got)
	}
	checkResponse(t, get(h, "GET", "/live;feed/"+url+"old"), 400, []string{"There is no feed of this URL"})
	checkResponse(t, get(h, "GET", "/raw;feed/"+url), 404, nil)
	checkResponse(t, get(h, "GET", "/live;feed/"+url, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"), 403, nil)
	checkResponse(t, get(newLive(t, func(o *Options) { o.Live.AllowHosts = nil }), "GET", "/live;feed/"+url), 403, []string{"!old"})

	gopher := peer.Gophernicus(t, peer.GophernicusOptions{})
	gopher.Put("about.txt", []byte("x"))
	w = get(h, "GET", "/live;feed/gopher://"+gopher.Addr+"/1/")
	checkResponse(t, w, 200, []string{"<title>about.txt", "<updated>"})
}
