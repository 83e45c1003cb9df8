package ldap

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// TestIntermediateResponses waits for a response of a server that sends only
// intermediate responses. They must not extend the time limit.
func TestIntermediateResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		s := newSession(sessions.NewConn(client, nil, ""))
		s.id = 1
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			defer server.Close()
			for range 100 {
				if _, err := server.Write(encode(1, ber.Primitive(ber.Application, opIntermediate, nil), nil)); err != nil {
					return
				}
				time.Sleep(30 * time.Second)
			}
		}()
		start := time.Now()
		_, err := s.receive()
		if took := time.Since(start); fetch.FaultOf(err) != fetch.Timeout || took != replyTime {
			t.Errorf("after %v: %v", took, err)
		}
		client.Close()
		<-ended
	})
}
