package mirror

import (
	"io"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/mirror/internal/s3"
)

// A bucket is the URL of a Store of an S3 server.
type bucket string

func (b bucket) Open() (store.Store, error) { return s3.Open(string(b), os.Getenv) }
func (b bucket) String() string             { return string(b) }

// TestSilentStore checks that a run does not wait beyond the limit for a store
// that accepts connections and never responds.
func TestSilentStore(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the time limit")
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "alice")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
	addr := faultnet.ServeTCP(t, func(conn net.Conn) { io.Copy(io.Discard, conn) })
	_, err := openStore(t.Context(), bucket("s3://warcs?endpoint=http://"+addr), time.Second, slog.New(slog.DiscardHandler))
	if fetch.FaultOf(err) != fetch.Timeout {
		t.Errorf("error %v, want a timeout", err)
	}
}
