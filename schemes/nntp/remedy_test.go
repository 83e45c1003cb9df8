package nntp

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
)

// TestRemedies: an error of a login names the options that give one.
func TestRemedies(t *testing.T) {
	for _, c := range []struct {
		code int
		want string
	}{{480, fetch.LoginOption}, {481, fetch.LoginOption}, {411, ""}, {502, ""}} {
		err := refused("GROUP", line.Reply{Code: c.code, Lines: []string{"no"}})
		if got := fetch.RemedyOf(err); got != c.want {
			t.Errorf("%d: got %q, want %q", c.code, got, c.want)
		}
	}
}

// TestInsecureAuth: a server without STARTTLS gets no password, and the error
// names the option that sends it.
func TestInsecureAuth(t *testing.T) {
	err := new(driver).protect(t.Context(), newSession(nil, place{}, nil))
	if fetch.FaultOf(err) != fetch.Auth || fetch.RemedyOf(err) != "--insecure-auth" {
		t.Errorf("got %v, %q", err, fetch.RemedyOf(err))
	}
}
