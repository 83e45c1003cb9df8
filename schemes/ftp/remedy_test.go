package ftp

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
	}{{530, fetch.LoginOption}, {332, fetch.LoginOption}, {550, ""}, {421, ""}} {
		err := refused("USER", line.Reply{Code: c.code, Lines: []string{"no"}})
		if got := fetch.RemedyOf(err); got != c.want {
			t.Errorf("%d: got %q, want %q", c.code, got, c.want)
		}
	}
}
