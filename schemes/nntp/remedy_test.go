package nntp

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

func TestOverrides(t *testing.T) {
	newError := func(code int) error { return statusError("GROUP", line.Reply{Code: code, Lines: []string{"no"}}) }
	schemetest.Overrides(t, newError, map[int]string{480: "Request.Auth", 481: "Request.Auth", 411: "", 502: ""})
}

// TestPlaintextPassword tests that the client sends no password without TLS and
// that the error names the option that allows it.
func TestPlaintextPassword(t *testing.T) {
	err := new(driver).protectPassword(t.Context(), newSession(sessions.NewConn(nil, nil, ""), endpoint{}))
	if fetch.FaultOf(err) != fetch.Auth || override.Of(err).Kind != OverrideClearPassword {
		t.Errorf("got %v, %q", err, override.Of(err))
	}
}
