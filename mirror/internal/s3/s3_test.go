package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/storetest"
)

// environment returns the environment of the user with an access key.
func environment(access, secret string) func(string) string {
	return func(name string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": access, "AWS_SECRET_ACCESS_KEY": secret}[name]
	}
}

// openS3 opens a store on a server, with the access key of its administrator.
func openS3(t *testing.T, addr, place string) *bucket {
	return openAs(t, addr, place, environment(peer.User, peer.Password))
}

func openAs(t *testing.T, addr, place string, getenv func(string) string) *bucket {
	t.Helper()
	s, err := Open("s3://"+place+"?region=us-east-1&endpoint=http://"+addr, getenv)
	if err != nil {
		t.Fatal(err)
	}
	return s.(*bucket)
}

// noise returns random bytes, and their digest.
func noise(size int) ([]byte, [sha256.Size]byte) {
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{1}).Read(data)
	return data, sha256.Sum256(data)
}

// TestS3 checks the store of versitygw.
func TestS3(t *testing.T) {
	server := peer.Versitygw(t, "warcs")
	s := openS3(t, server.Addr, "warcs/crawl/1")
	storetest.Run(t, s)
	if got := storetest.Names(t, openS3(t, server.Addr, "warcs"), ""); len(got) == 0 || !strings.HasPrefix(got[0], "crawl/1/") {
		t.Errorf("objects of the bucket: %q", got)
	}
	t.Run("parts", func(t *testing.T) { testParts(t, s) })
	t.Run("pages", func(t *testing.T) {
		for i := range 1005 {
			server.Put(fmt.Sprintf("warcs/crawl/1/pages/%04d", i), nil)
		}
		if got := storetest.Names(t, s, "pages/"); len(got) != 1005 || got[1004] != "pages/1004" {
			t.Errorf("%d objects", len(got))
		}
	})
}

// testParts creates an object with a multipart upload.
func testParts(t *testing.T, s *bucket) {
	ctx := context.Background()
	data, sum := noise(2*partSize + 12345)
	confirmed, err := s.putParts(ctx, "parts", bytes.NewReader(data), int64(len(data)), sum)
	if err != nil || !confirmed {
		t.Fatal(confirmed, err)
	}
	if o, err := s.Stat(ctx, "parts"); err != nil || o.SHA256 != sum || o.Size != int64(len(data)) {
		t.Errorf("%+v, %v", o, err)
	}
	if err := s.Put(ctx, "parts", bytes.NewReader(data), int64(len(data)), sum); err != nil {
		t.Errorf("the same bytes again: %v", err)
	}
	data[partSize]++
	if err := s.Put(ctx, "parts", bytes.NewReader(data), int64(len(data)), sha256.Sum256(data)); !errors.Is(err, store.ErrConflict) {
		t.Errorf("other bytes: %v", err)
	}
	if _, err := s.putParts(ctx, "parts", bytes.NewReader(data), int64(len(data)), sha256.Sum256(data)); !isStatus(err, 412) {
		t.Errorf("a multipart upload for an existing name: %v", err)
	}
	if err := s.Put(ctx, "parts2", bytes.NewReader(data), int64(len(data)), sum); fetch.FaultOf(err) != fetch.Mismatch || errors.Is(err, store.ErrConflict) {
		t.Errorf("a wrong digest: %v", err)
	}
	f, err := s.Open(ctx, "parts")
	if err != nil {
		t.Fatal(err)
	}
	data[partSize]--
	part := make([]byte, store.MaxRange+100)
	if n, err := f.ReadAt(part, partSize-50); n != len(part) || err != nil || !bytes.Equal(part, data[partSize-50:][:n]) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if got, err := store.Digest(ctx, store.Reader(f)); got != sum || err != nil {
		t.Errorf("read again: %v", err)
	}
	if ids := openUploads(t, s); len(ids) > 0 {
		t.Errorf("incomplete uploads remain: %q", ids)
	}
}

// openUploads returns the multipart uploads that are not complete.
func openUploads(t *testing.T, s *bucket) []string {
	t.Helper()
	all, err := s.uploads(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, u := range all.Upload {
		ids = append(ids, u.Key)
	}
	return ids
}

// TestS3Errors checks that each error has its class and names its reason, and
// that no error contains a secret.
func TestS3Errors(t *testing.T) {
	server := peer.Versitygw(t, "warcs")
	admin := openS3(t, server.Addr, "warcs")
	if err := storetest.Put(admin, "object", "text"); err != nil {
		t.Fatal(err)
	}
	policy := `{"Statement": [{"Effect": "Allow", "Principal": ["reader"], "Action": ["s3:GetObject", "s3:ListBucket"],
		"Resource": ["arn:aws:s3:::warcs", "arn:aws:s3:::warcs/*"]}]}`
	set := call{method: http.MethodPut, query: url.Values{"policy": {""}}}
	set.body, set.digest = content(strings.NewReader(policy), 0, int64(len(policy)), sha256.Sum256([]byte(policy)))
	if _, err := admin.api.empty(context.Background(), set); err != nil {
		t.Fatal(err)
	}
	reader := openAs(t, server.Addr, "warcs", environment(peer.Reader, peer.Password))
	if text, err := storetest.Get(reader, "object"); text != "text" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	for _, c := range []struct {
		name  string
		store *bucket
		want  fetch.Fault
		text  string
	}{
		{"a wrong secret", openAs(t, server.Addr, "warcs", environment(peer.User, secret)), fetch.Auth, "access key"},
		{"an unknown access key", openAs(t, server.Addr, "warcs", environment("nobody", secret)), fetch.Auth, "access key"},
		{"no access key", openAs(t, server.Addr, "warcs", nil), fetch.Auth, "AWS_ACCESS_KEY_ID"},
		{"a missing bucket", openS3(t, server.Addr, "nothing"), fetch.NotFound, "the bucket does not exist"},
		{"no permission to write", reader, fetch.Denied, "permission"},
	} {
		t.Run(c.name, func(t *testing.T) {
			small, large := storetest.Put(c.store, "new", "text"), c.store.Put(context.Background(), "large", zeros{}, partSize+1, [32]byte{})
			_, stat := c.store.Stat(context.Background(), "object")
			errs := []error{c.store.Check(context.Background()), small, large, stat, first(c.store)}
			if c.store == reader {
				errs = errs[:3] // it may read and list
			}
			for i, err := range errs {
				if c.want == fetch.NotFound && i == 3 {
					continue // Stat cannot distinguish a missing bucket from a missing object
				}
				checkError(t, fmt.Sprint(i), err, c.want, c.text)
			}
		})
	}
	server.Stop()
	checkError(t, "no server", openAs(t, server.Addr, "warcs", environment(peer.User, secret)).Check(context.Background()), fetch.Connect, "refused")
	server.Restart()
	if got := storetest.Names(t, admin, ""); len(got) != 1 {
		t.Errorf("objects: %q", got)
	}
}

// secret is a wrong secret key.
const secret = "secretword"

// checkError checks the class and the text of an error.
func checkError(t *testing.T, name string, err error, want fetch.Fault, text string) {
	t.Helper()
	if fetch.FaultOf(err) != want || fetch.Retryable(err) != (want == fetch.Connect) || errors.Is(err, store.ErrConflict) {
		t.Errorf("%s: %v: %v", name, fetch.FaultOf(err), err)
	}
	if err != nil && (!strings.Contains(err.Error(), text) || strings.Contains(err.Error(), secret) ||
		strings.Count(err.Error(), "s3://") != 1 || strings.Contains(err.Error(), "operation error")) {
		t.Errorf("%s: text of the error: %v", name, err)
	}
}

// zeros is an endless source of zero bytes.
type zeros struct{}

func (zeros) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}

// first returns the error of a list.
func first(s store.Store) error {
	for _, err := range s.List(context.Background(), "") {
		return err
	}
	return nil
}

// TestMetadataWithoutObject removes the bytes of objects, as a crash of the server
// can. A request with a condition then fails, although there is no object.
func TestMetadataWithoutObject(t *testing.T) {
	server := peer.Versitygw(t, "warcs")
	s := openAs(t, server.Addr, "warcs", environment(peer.User, peer.Password))
	s.ghosts.wait = time.Hour
	for name, size := range map[string]int64{"small": 10, "parts": partSize + 1} {
		data := make([]byte, size)
		sum := sha256.Sum256(data)
		for n := range 2 {
			err := s.Put(t.Context(), name, bytes.NewReader(data), size, sum)
			if n > 0 {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s, first attempt: %v", name, err)
				}
				s.ghosts.since[name] = time.Now().Add(-s.ghosts.wait)
				err = s.Put(t.Context(), name, bytes.NewReader(data), size, sum)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if object, err := s.Stat(t.Context(), name); err != nil || object.Size != size || object.SHA256 != sum {
				t.Errorf("%s: %v, error %v", name, object, err)
			}
			if err := os.Remove(filepath.Join(server.Root, "warcs", name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestS3URL checks URLs of buckets.
func TestS3URL(t *testing.T) {
	for _, c := range []struct {
		url, text string
	}{
		{"s3://", "BUCKET"},
		{"s3://x", "BUCKET"},
		{"s3://warcs", "region"},
		{"s3://user:secretword@warcs?region=r", "password"},
		{"s3://warcs?region=r&endpoint=http://user:secretword@h/", "endpoint"},
		{"s3://warcs?region=r&endpoint=h:9000", "endpoint"},
		{"s3://warcs?region=r&endpoint=http://h/path", "endpoint"},
		{"s3://warcs?region=r&endpoint=ftp://h", "endpoint"},
		{"s3://warcs?regoin=r", "unknown parameter"},
		{"s3://warcs/a/../b?region=r", "cannot be the name"},
		{"s3://warcs/%zz?region=r", "invalid URL"},
	} {
		s, err := Open(c.url, nil)
		if fetch.FaultOf(err) != fetch.Usage || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "secretword") {
			t.Errorf("%s: %v, %v", c.url, s, err)
		}
	}
	s, err := Open("s3://warcs/a/b/?region=eu-west-1", nil)
	if err != nil || s.(*bucket).key("c") != "a/b/c" {
		t.Error(s, err)
	}
}
