package console

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestReportSilent checks that -s prints only errors in the use of the command.
func TestReportSilent(t *testing.T) {
	for _, c := range []struct {
		err       error
		showError bool
		want      string
	}{
		{fetch.Usage.With(errors.New("unknown flag")), false, "fetch: unknown flag\n"},
		{fetch.NotFound.With(errors.New("no object")), false, ""},
		{fetch.BadURL.With(errors.New("no host")), false, ""},
		{fetch.NotFound.With(errors.New("no object")), true, "fetch: no object\n"},
	} {
		var stderr bytes.Buffer
		s := &Streams{Stderr: &stderr, messageFlags: messageFlags{Silent: true, showError: c.showError}}
		s.Report(context.Background(), c.err, ErrorSource{})
		if stderr.String() != c.want {
			t.Errorf("%v: got %q, want %q", c.err, &stderr, c.want)
		}
	}
}
