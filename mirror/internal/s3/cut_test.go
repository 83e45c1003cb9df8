package s3

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/storetest"
)

// cutReader calls cut before the first read at or after the offset at.
type cutReader struct {
	*bytes.Reader
	at  int64
	cut func()
}

func (r *cutReader) ReadAt(p []byte, off int64) (int, error) {
	if off >= r.at && r.cut != nil {
		r.cut()
		r.cut = nil
	}
	return r.Reader.ReadAt(p, off)
}

// TestCut kills the server during a multipart upload, and starts it again. The
// next upload of the object must remove the parts of the first one, but no parts
// of other objects.
func TestCut(t *testing.T) {
	server := peer.Versitygw(t, "warcs")
	s := openS3(t, server.Addr, "warcs")
	data, sum := noise(2*partSize + 5)
	ctx := context.Background()
	err := s.Put(ctx, "cut", &cutReader{bytes.NewReader(data), partSize, server.Stop}, int64(len(data)), sum)
	if !fetch.Retryable(err) {
		t.Fatalf("a server that is killed: %v", err)
	}
	server.Restart()
	if got := storetest.Names(t, s, ""); got != nil {
		t.Errorf("objects after the cut: %q", got)
	}
	if _, err := s.start(ctx, "cut2", sum); err != nil {
		t.Fatal(err)
	}
	if got := openUploads(t, s); !slices.Equal(got, []string{"cut", "cut2"}) {
		t.Errorf("incomplete uploads after the cut: %q", got)
	}
	if err := s.Put(ctx, "cut", bytes.NewReader(data), int64(len(data)), sum); err != nil {
		t.Fatal(err)
	}
	f, err := s.Open(ctx, "cut")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := store.Digest(ctx, store.Reader(f)); got != sum || err != nil {
		t.Errorf("read again: %v", err)
	}
	if got := openUploads(t, s); !slices.Equal(got, []string{"cut2"}) {
		t.Errorf("incomplete uploads after the next upload: %q", got)
	}
}
