package replay_test

import (
	"fmt"
	"log"
	"net"
	"time"

	"github.com/anyurl/fetch/gateway/replay"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// Each archived origin has a host name of its own below localhost.
func ExampleSite_PageURL() {
	site, err := replay.NewSite(replay.Options{
		Address: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}, Schemes: http.Schemes(http.Options{}),
		Archives: []replay.Archive{{Name: "site", Source: new(warc.Archive)}},
	})
	if err != nil {
		log.Fatal(err)
	}
	first := site.PageURL(0, time.Unix(1e9, 0), uri.MustParse("https://a.example/page"))
	second := site.PageURL(0, time.Unix(1e9, 0), uri.MustParse("https://b.example/page"))
	fmt.Println(first != second, site.PageURL(0, time.Unix(1e9, 0), uri.MustParse("ftp://a.example/")) == "")
	// Output: true true
}
