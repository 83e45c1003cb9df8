package nntp

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/internal/schemetest"
)

func TestRemedies(t *testing.T) {
	refuse := func(code int) error { return refused("GROUP", line.Reply{Code: code, Lines: []string{"no"}}) }
	schemetest.Remedies(t, refuse, map[int]string{480: fetch.LoginOption, 481: fetch.LoginOption, 411: "", 502: ""})
}

// TestInsecureAuth: a server without STARTTLS gets no password, and the error
// names the option that sends it.
func TestInsecureAuth(t *testing.T) {
	err := new(driver).protect(t.Context(), newSession(nil, place{}, nil))
	if fetch.FaultOf(err) != fetch.Auth || fetch.RemedyOf(err) != "--insecure-auth" {
		t.Errorf("got %v, %q", err, fetch.RemedyOf(err))
	}
}
