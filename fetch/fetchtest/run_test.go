package fetchtest

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
)

func TestMissingField(t *testing.T) {
	schemes := func() []fetch.Scheme { return nil }
	for want, s := range map[string]Suite{
		"Schemes":  {},
		"Document": {Schemes: schemes},
		"Body":     {Schemes: schemes, Document: "a:b"},
		"":         {Schemes: schemes, Document: "a:b", Body: []byte("x")},
	} {
		if got := s.missingField(); got != want {
			t.Errorf("%+v: got %q, want %q", s, got, want)
		}
	}
}
