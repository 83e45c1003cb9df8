package ftp

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/internal/schemetest"
)

func TestRemedies(t *testing.T) {
	refuse := func(code int) error { return refused("USER", line.Reply{Code: code, Lines: []string{"no"}}) }
	schemetest.Remedies(t, refuse, map[int]string{530: fetch.LoginOption, 332: fetch.LoginOption, 550: "", 421: ""})
}
