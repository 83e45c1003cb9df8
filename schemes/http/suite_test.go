package http_test

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/http"
)

func schemes() []fetch.Scheme { return http.Schemes(http.Options{}) }

func TestSuite(t *testing.T) {
	s := peer.Nginx(t, peer.NginxOptions{})
	body := noise(200_000)
	s.Put("f", body)
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  schemes,
		Document: "http://" + s.Addr + "/f",
		Body:     body,
		Missing:  "http://" + s.Addr + "/missing",
		Rejected: []string{"http://h:25/", "http://2130706433/", "http:///f", "http://a%2fb/", "http://169.254.169.254/", "http://[v1.x]/"},
	})
}

func TestPolicyBypass(t *testing.T) { fetchtest.RunPolicy(t, schemes) }
