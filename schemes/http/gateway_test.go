package http_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

func TestGateway(t *testing.T) {
	for _, test := range []struct {
		name, scheme string
		port         uint16
		url, line    string
	}{
		{"gopher", "gopher", 70, "gopher://u:s3cret@old.example.org/7/x%09y?a#f", "GET gopher://old.example.org/7/x%09y?a HTTP/1.1\r\nHost: old.example.org\r\n"},
		{"urn", "urn", 0, "urn:isbn:0451450523", "GET urn:isbn:0451450523 HTTP/1.1\r\nHost: gw:8080\r\n"},
		{"encoded line end", "gopher", 70, "gopher://h/1%0d%0aX:y", "GET gopher://h/1%0d%0aX:y HTTP/1.1\r\nHost: h\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{{ok}}}
			via := uri.MustParse("http://al:pr0xy@gw:8080/")
			client := fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: s.dial, Resolver: resolver{}}, http.Gateway(test.scheme, test.port, via))
			resp, body, err := get(t, client, ask(test.url))
			client.Close()
			s.serving.Wait()
			if err != nil || body != "hello" {
				t.Fatalf("got %q, %+v, %v", body, resp, err)
			}
			head := s.heads()[0]
			if !strings.HasPrefix(head, test.line) || strings.Contains(head, "s3cret") || !strings.Contains(head, "\r\nProxy-Authorization: Basic ") {
				t.Errorf("sent %q, want %q", head, test.line)
			}
			steps, err := client.Plan(ask(test.url))
			if err != nil || len(steps) == 0 || !strings.HasPrefix(test.line, steps[0].String()+"\r\n") {
				t.Errorf("planned %v, %v", steps, err)
			}
		})
	}
}

func TestGatewayRefused(t *testing.T) {
	for _, via := range []string{"socks5://gw:1080", "http:", "gw", "http://a%2fb/"} {
		client := fetch.New(fetch.Options{Policy: fetch.Typed()}, http.Gateway("gopher", 70, uri.MustParse(via)))
		if _, _, err := get(t, client, ask("gopher://h/")); !errors.Is(err, fetch.Usage) && !errors.Is(err, fetch.BadAddress) {
			t.Errorf("%s: got %v", via, err)
		}
		client.Close()
	}
}
