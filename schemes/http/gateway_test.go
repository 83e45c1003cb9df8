package http_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

func TestGateway(t *testing.T) {
	for _, test := range []struct {
		name, scheme string
		port         uint16
		url, line    string
	}{
		{"gopher", "gopher", 70, "gopher://u:s3cret@old.example.org/7/x%09y?a#f", "GET gopher://old.example.org/7/x%09y?a HTTP/1.1\r\nHost: old.example.org:70\r\n"},
		{"urn", "urn", 0, "urn:isbn:0451450523", "GET urn:isbn:0451450523 HTTP/1.1\r\nHost: gw:8080\r\n"},
		{"encoded line end", "gopher", 70, "gopher://h/1%0d%0aX:y", "GET gopher://h/1%0d%0aX:y HTTP/1.1\r\nHost: h:70\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{{ok}}}
			via := uri.MustParse("http://al:pr0xy@gw:8080/")
			client := fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: s.dial, Resolver: resolver{}}, http.Gateway(fetch.Scheme{Name: test.scheme, Port: test.port, Ports: scheme.Ports{Class: scheme.TextPorts}}, via))
			resp, body, err := get(t, client, newRequest(test.url))
			client.Close()
			s.serving.Wait()
			if err != nil || body != "hello" {
				t.Fatalf("got %q, %+v, %v", body, resp, err)
			}
			head := s.heads()[0]
			if !strings.HasPrefix(head, test.line) || strings.Contains(head, "s3cret") || !strings.Contains(head, "\r\nProxy-Authorization: Basic ") {
				t.Errorf("sent %q, want %q", head, test.line)
			}
			steps, err := client.Plan(newRequest(test.url))
			if err != nil || len(steps) == 0 || !strings.HasPrefix(test.line, steps[0].String()+"\r\n") {
				t.Errorf("planned %v, %v", steps, err)
			}
		})
	}
}

func TestGatewayInvalid(t *testing.T) {
	for _, via := range []string{"socks5://gw:1080", "http:", "gw", "http://a%2fb/"} {
		client := fetch.New(fetch.Options{Policy: fetch.Typed()}, http.Gateway(fetch.Scheme{Name: "gopher", Port: 70, Ports: scheme.Ports{Class: scheme.TextPorts}}, uri.MustParse(via)))
		if _, _, err := get(t, client, newRequest("gopher://h/")); !errors.Is(err, fetch.Usage) && !errors.Is(err, fetch.BadAddress) {
			t.Errorf("%s: got %v", via, err)
		}
		client.Close()
	}
}

// TestGatewayLogin checks that the gateway receives the login of an ftp URL,
// and that the Trace sees neither this password nor that of the gateway.
func TestGatewayLogin(t *testing.T) {
	basic := "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("al:p@ss;")) + "\r\n"
	for _, test := range []struct {
		name, url    string
		auth         *fetch.Credential
		line, traced string
	}{
		{"in the URL", "ftp://al:p%40ss;@h/x;type=a", nil,
			"GET ftp://al:p%40ss;@h/x;type=a HTTP/1.1\r\nHost: h:21\r\n", "GET ftp://al:***@h/x;type=a HTTP/1.1\r\nHost: h:21\r\n"},
		{"in the request", "ftp://h:2121/x", &fetch.Credential{User: "al", Password: "p@ss;"},
			"GET ftp://al:p%40ss;@h:2121/x HTTP/1.1\r\nHost: h:2121\r\n", "GET ftp://al:***@h:2121/x HTTP/1.1\r\nHost: h:2121\r\n"},
		{"no login", "ftp://h/x", nil, "GET ftp://h/x HTTP/1.1\r\nHost: h:21\r\n", "GET ftp://h/x HTTP/1.1\r\nHost: h:21\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{{ok}}}
			client := fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: s.dial, Resolver: resolver{}}, http.Gateway(fetch.Scheme{Name: "ftp", Port: 21, Ports: scheme.Ports{Class: scheme.TextPorts}}, uri.MustParse("http://gw:pr0xy@gw:8080/")))
			var traced strings.Builder
			req := newRequest(test.url)
			req.Auth, req.Trace = test.auth, &trace.Trace{Sent: func(p []byte) { traced.Write(p) }}
			_, body, err := get(t, client, req)
			client.Close()
			s.serving.Wait()
			if err != nil || body != "hello" {
				t.Fatalf("got %q, %v", body, err)
			}
			logsIn := test.line != test.traced
			if head := s.heads()[0]; !strings.HasPrefix(head, test.line) || strings.Contains(head, basic) != logsIn {
				t.Errorf("sent %q, want %q", head, test.line)
			}
			if got := traced.String(); !strings.HasPrefix(got, test.traced) || strings.Contains(got, "\r\nAuthorization: ***\r\n") != logsIn || strings.Contains(got, "Basic") ||
				!strings.Contains(got, "\r\nProxy-Authorization: ***\r\n") {
				t.Errorf("traced request %q, want %q", got, test.traced)
			}
			steps, err := client.Plan(req)
			if err != nil || len(steps) == 0 || !strings.HasPrefix(test.traced, steps[0].String()+"\r\n") {
				t.Errorf("planned %v, %v", steps, err)
			}
		})
	}
}

func TestGatewayLoginInvalid(t *testing.T) {
	s := &script{}
	client := fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: s.dial, Resolver: resolver{}}, http.Gateway(fetch.Scheme{Name: "ftp", Port: 21, Ports: scheme.Ports{Class: scheme.TextPorts}}, uri.MustParse("http://gw:8080/")))
	defer client.Close()
	for _, url := range []string{"ftp://al%0d%0aDELE%20x@h/", "ftp://al:a%00b@h/"} {
		if _, _, err := get(t, client, newRequest(url)); !errors.Is(err, fetch.BadURL) {
			t.Errorf("%s: got %v", url, err)
		}
	}
	if len(s.heads()) > 0 {
		t.Errorf("sent %q", s.heads())
	}
}

// TestGatewayChallenge checks that a gateway that sends the status 401 gets a
// login only for ftp URLs, and that it is the login for the server of the URL.
func TestGatewayChallenge(t *testing.T) {
	for _, test := range []struct {
		name, scheme, url string
		port              uint16
		want              string // the origin and the user of the challenge
	}{
		{"gopher", "gopher", "gopher://h/", 70, ""},
		{"user in the URL", "gopher", "gopher://al@h/", 70, ""},
		{"https", "https", "https://al@h/", 443, ""},
		{"ftp", "ftp", "ftp://h/", 21, "ftp://h:21 "},
		{"ftp with a user", "ftp", "ftp://al@h:2121/", 21, "ftp://h:2121 al"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{{unauthorized(`Basic realm="r"`), ok}}}
			got := ""
			client := fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: s.dial, Resolver: resolver{},
				Login: func(_ context.Context, c fetch.Challenge) (*fetch.Credential, error) {
					got += fmt.Sprintf("%s://%s:%d %s", c.Origin.Scheme, c.Origin.Host, c.Origin.Port, c.User)
					return &fetch.Credential{User: "al", Password: "s3cret"}, nil
				}}, http.Gateway(fetch.Scheme{Name: test.scheme, Port: test.port, Ports: scheme.Ports{Class: scheme.TextPorts}}, uri.MustParse("http://gw:8080/")))
			_, body, err := get(t, client, newRequest(test.url))
			client.Close()
			s.serving.Wait()
			if isFTP := test.scheme == "ftp"; isFTP != (err == nil && body == "hello") || !isFTP && fetch.FaultOf(err) != fetch.Auth {
				t.Errorf("got %q, %v", body, err)
			}
			if got != test.want {
				t.Errorf("login for %q, want %q", got, test.want)
			}
			if sent := strings.Contains(strings.Join(s.heads(), ""), "\r\nAuthorization: "); sent != (test.want != "") {
				t.Errorf("sent %q", s.heads())
			}
		})
	}
}
