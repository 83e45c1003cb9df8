package mirror_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes"
)

// oneByOne returns two steps around the steps of a server that serves one
// connection at a time. The last step is serve.
func oneByOne(serve func(*faultnet.Conn) error, more ...faultnet.Step) faultnet.Script {
	turn := make(chan bool, 1)
	begin := faultnet.Do("wait for earlier connections", func(*faultnet.Conn) error { turn <- true; return nil })
	end := faultnet.Do("serve", func(c *faultnet.Conn) error {
		defer func() { <-turn }()
		return serve(c)
	})
	return append(append(faultnet.Script{begin}, more...), end)
}

// serveKept answers the requests on a connection until the client closes it.
func serveKept(site webSite, delay time.Duration) func(*faultnet.Conn) error {
	return func(c *faultnet.Conn) error {
		in := bufio.NewReader(c)
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return nil
			}
			time.Sleep(delay)
			body, ok := site[r.RequestURI]
			status := "200 OK"
			if !ok {
				status = "404 Not Found"
			}
			_, err = fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", status, mediaOf(r.URL.Path), len(body), body)
			if err != nil {
				return nil
			}
		}
	}
}

// TestOneConnection mirrors 21 files from servers that serve one connection at a
// time and never close it. The run must not wait until the Client closes idle
// connections.
func TestOneConnection(t *testing.T) {
	t.Parallel()
	certs := faultnet.NewCerts(t, "slow.example")
	pages := webSite{}
	listing := ""
	for n := range 20 {
		pages["/"] += fmt.Sprintf("<a href=/%d.txt>", n)
		pages[fmt.Sprintf("/%d.txt", n)] = fmt.Sprintf("text %d\n", n)
		listing += fmt.Sprintf("-rw-r--r-- 1 ftp ftp %d Jan 15 2024 %d.txt\r\n", len(fmt.Sprintf("text %d\n", n)), n)
	}
	for _, scheme := range []string{"http", "https", "https without WARC", "ftp"} {
		for _, perHost := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s, %d connections", scheme, perHost), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newNetwork(t)
					at := w.name("slow.example").String()
					switch scheme {
					case "http":
						w.net.Serve(at+":80", oneByOne(serveKept(pages, time.Millisecond)))
					case "https", "https without WARC":
						w.net.Serve(at+":443", oneByOne(serveKept(pages, time.Millisecond), certs.TLS()))
					case "ftp":
						f := &oldFTP{list: listing, files: map[string]string{}, times: map[string]string{}}
						for n := range 20 {
							name := fmt.Sprintf("%d.txt", n)
							f.files[name], f.times[name] = pages["/"+name], "20240115000000"
						}
						f.serve(w, "slow.example")
						w.net.Serve(at+":21", oneByOne(f.control))
					}
					o := w.options(strings.Fields(scheme)[0] + "://slow.example/")
					o.PerHost = perHost
					if strings.HasSuffix(scheme, "without WARC") {
						o.WARC = nil
					}
					options := fetch.Options{Policy: w.policy, Resolver: w, Dial: w.dial, TLS: &tls.Config{RootCAs: certs.Pool}}
					o.Client = fetch.New(options, schemes.All(schemes.Options{})...)
					defer o.Client.Close()
					start := time.Now()
					sum := run(t, o)
					if took := time.Since(start); took > 3*time.Second || sum.Failed > 0 || sum.New < 21 {
						t.Errorf("took %v: %+v", took, sum)
					}
				})
			})
		}
	}
}
