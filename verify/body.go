package verify

import (
	"io"

	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/base/parallel"
)

// A Body is the body of a response whose checks are carried out at its end.
type Body struct {
	io.ReadCloser
	checks []Check
	trace  *trace.Trace
	err    error // result of the checks, which later calls of Read return; nil before the end
}

// NewBody returns a Body that reads from body. At the end of body, Read returns
// the error of the first check that fails, instead of io.EOF. Checks that
// succeed are reported to t, which may be nil.
func NewBody(body io.ReadCloser, checks []Check, t *trace.Trace) *Body {
	return &Body{ReadCloser: body, checks: checks, trace: t}
}

// Read reads the next bytes and passes them to the checks.
func (b *Body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	parallel.Write(p[:n], b.checks)
	if err != io.EOF {
		return n, err
	}
	b.err = io.EOF
	for _, c := range b.checks {
		if err := c.Verify(); err != nil {
			b.err = err
			break
		}
		b.trace.Detailf("verified: %s", c)
	}
	return n, b.err
}
