package ipfs

import (
	"github.com/anyurl/fetch/fetch/trace"
)

// traceSent returns a Trace that appends the sent bytes to sent.
func traceSent(sent *[]byte) *trace.Trace {
	return &trace.Trace{Sent: func(p []byte) { *sent = append(*sent, p...) }}
}
