package sftp

import (
	"fmt"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
)

// statusFaults contains the name and the error class of each status code
// (section 7).
var statusFaults = [...]struct {
	name  string
	fault fetch.Fault
}{
	statusOK:  {"ok", fetch.Protocol},
	statusEOF: {"end of file", fetch.Protocol},
	2:         {"no such file", fetch.NotFound},
	3:         {"permission denied", fetch.Denied},
	4:         {"failure", fetch.Denied},
	5:         {"bad message", fetch.Protocol},
	6:         {"no connection", fetch.TryLater},
	7:         {"connection lost", fetch.TryLater},
	8:         {"operation unsupported", fetch.Unsupported},
}

// maxMessage limits the text of a status message in errors, in bytes.
const maxMessage = 200

// statusText returns a status as text without control characters.
func statusText(code uint32, message string) string {
	name := "unknown"
	if code < uint32(len(statusFaults)) {
		name = statusFaults[code].name
	}
	if message == "" {
		message = name
	}
	return fmt.Sprintf("%d %s", code, tty.Escape(message[:min(len(message), maxMessage)]))
}

// expect returns an error if the packet does not have the given type. A status
// becomes an error with its class.
func (p *packet) expect(kind byte) error {
	switch p.kind {
	case kind:
		return nil
	case status:
	default:
		return fetch.Protocol.Errorf("sftp reply of type %d, not %d", p.kind, kind)
	}
	code := p.u32()
	if p.err != nil {
		return p.err
	}
	message := ""
	if len(p.rest) > 0 { // old servers send no message
		message = p.str()
	}
	fault := fetch.Denied
	if code < uint32(len(statusFaults)) {
		fault = statusFaults[code].fault
	}
	return &fetch.Error{Code: int(min(code, 1<<30)), Err: fault.Errorf("server replied: %s", statusText(code, message))}
}
