package ftp

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/line"
)

func TestRemedies(t *testing.T) {
	refuse := func(code int) error { return refused("USER", line.Reply{Code: code, Lines: []string{"no"}}) }
	schemetest.Overrides(t, refuse, map[int]string{530: "Request.Auth", 332: "Request.Auth", 550: "", 421: ""})
}
