package mirror

import (
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
)

// TestSilentStore checks that a run does not wait beyond the limit for a store
// that accepts connections and never responds.
func TestSilentStore(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "alice")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
	addr := faultnet.ServeTCP(t, func(conn net.Conn) { io.Copy(io.Discard, conn) })
	_, err := openStore(t.Context(), "s3://warcs?endpoint=http://"+addr, time.Second, slog.New(slog.DiscardHandler))
	if fetch.FaultOf(err) != fetch.Timeout {
		t.Errorf("error %v, want a timeout", err)
	}
}
