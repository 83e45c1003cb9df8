package rsync

import (
	"io"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/schemetest"
)

// TestLongTexts checks that the text of a server does not fill a terminal with an
// error.
func TestLongTexts(t *testing.T) {
	const limit = 700
	long := strings.Repeat("\x1b[2J", 1000)
	for _, test := range []struct {
		name, greeting string
		rest           script
		path           string
	}{
		{"error before the module", "@RSYNCD: 31.0\n@ERROR: " + long + "\n", nil, "m/f"},
		{"error in the list of modules", "@RSYNCD: 31.0\n@ERROR: " + long + "\n", nil, ""},
		{"unknown command", "@RSYNCD: 31.0\n@RSYNCD: " + long + "\n", nil, "m/f"},
		{"error in the stream", accepted, script(nil).message(dataTag+1, []byte(long)).data(byte(0), 1), "m/f"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var rest func(io.Writer)
			if test.rest != nil {
				rest = func(w io.Writer) { w.Write(test.rest) }
			}
			addr := hostile(t, test.greeting, rest)
			c := schemetest.NewClient(t, Schemes())
			defer c.Close()
			_, _, err := schemetest.Read(t, c, "rsync://"+addr+"/"+test.path)
			if err == nil {
				t.Fatal("no error")
			}
			if text := err.Error(); len(text) > limit || strings.Contains(text, "\x1b") {
				t.Errorf("error of %d bytes: %.100q", len(text), text)
			}
		})
	}
}
