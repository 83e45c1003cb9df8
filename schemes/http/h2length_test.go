package http_test

import (
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
)

// TestHTTP2Length checks the values of Content-Length that package net/http
// ignores. They have the same meaning as in HTTP/1.
func TestHTTP2Length(t *testing.T) {
	certs := faultnet.NewCerts(t, "h")
	for _, c := range []struct {
		name   string
		fields []string
		status string
		want   fetch.Fault // or 0
	}{
		{"two different lengths", []string{"content-length", "5", "content-length", "50"}, "200", fetch.Protocol},
		{"two different lengths in a field", []string{"content-length", "5, 50"}, "200", fetch.Protocol},
		{"two equal lengths", []string{"content-length", "5", "content-length", "5"}, "200", 0},
		{"two equal lengths, truncated", []string{"content-length", "50", "content-length", "50"}, "200", fetch.Truncated},
		{"two equal lengths in a field, truncated", []string{"content-length", "50, 50"}, "200", fetch.Truncated},
		{"two equal lengths, body too long", []string{"content-length", "2", "content-length", "2"}, "200", fetch.Protocol},
		{"sign", []string{"content-length", "+50"}, "200", fetch.Protocol},
		{"empty length", []string{"content-length", ""}, "200", fetch.Protocol},
		{"length of 2^64-1", []string{"content-length", "18446744073709551615"}, "200", 0},
		{"no length", nil, "200", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newFrameClient(t, certs, fetch.Typed(), nil, func(s *frameServer, stream uint32) {
					s.headers(stream, c.status, false, c.fields...)
					s.data(stream, "hello", true)
				})
				body, err := readBody(t, client, "https://h/")
				if fetch.FaultOf(err) != c.want || err == nil && body != "hello" {
					t.Errorf("got %q, %v (%v)", body, err, fetch.FaultOf(err))
				}
			})
		})
	}
}
