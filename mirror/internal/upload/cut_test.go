package upload_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror/internal/s3"
	"github.com/anyurl/fetch/mirror/internal/upload"
)

// A cut kills a server once.
type cut struct {
	server *peer.Server
	at     string // method and a part of the query of the request, in whose body the server is killed
	lost   string // request as for at, whose response is lost: the server is killed before

	mu       sync.Mutex
	killed   bool
	requests []string
}

// relay starts a relay to the server and returns its address.
func (c *cut) relay(t *testing.T) string {
	return faultnet.Relay(t, c.server.Addr, func(r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests = append(c.requests, r.Method+" "+r.URL.RawQuery)
		if !c.killed && matches(r, c.at) {
			faultnet.AtHalf(r, c.kill)
		}
	}, func(r *http.Response) error {
		if !matches(r.Request, c.lost) || c.record() != nil {
			return nil
		}
		c.kill()
		return errors.New("the response is lost")
	})
}

func (c *cut) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.killed = true
	c.server.Stop()
}

// record returns the requests, or nil if the server was not killed.
func (c *cut) record() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.killed {
		return nil
	}
	return slices.Clone(c.requests)
}

func matches(r *http.Request, kind string) bool {
	method, query, ok := strings.Cut(kind, " ")
	return ok && r.Method == method && strings.Contains(r.URL.RawQuery, query)
}

// TestUploaderCut kills the S3 server during a multipart upload. After the
// server has started again, the Uploader must create the object once and remove
// all other parts.
func TestUploaderCut(t *testing.T) {
	db := peer.Postgres(t, false)
	file := make([]byte, 36<<20) // three parts
	rand.NewChaCha8([32]byte{1}).Read(file)
	for i, test := range []struct {
		name   string
		cut    *cut
		before string // objects after the server has started again
	}{
		{"second part", &cut{at: "PUT partNumber=2"}, "[]"},
		{"response to the completion", &cut{lost: "POST uploadId"}, "[file]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := peer.Versitygw(t, "warcs")
			test.cut.server = server
			s := newSpool(t, fmt.Sprintf("postgres://postgres@%s/postgres?search_path=crawl%d", db.Addr, i), t.TempDir())
			environment := map[string]string{"AWS_ACCESS_KEY_ID": peer.User, "AWS_SECRET_ACCESS_KEY": peer.Password}
			var err error
			s.store, err = s3.Open("s3://warcs?region=us-east-1&endpoint=http://"+test.cut.relay(t),
				func(name string) string { return environment[name] })
			if err != nil {
				t.Fatal(err)
			}
			s.addFile("file", string(file))
			attempts := 0
			err = s.run(upload.Options{Failed: func(name string, err error) {
				if attempts++; attempts == 1 {
					server.Restart()
					if got := objects(t, s.store); got != test.before {
						t.Errorf("objects after %v: %s, want %s", err, got, test.before)
					}
				}
			}}, "file")
			if requests := test.cut.record(); err != nil || attempts != 1 || requests == nil {
				t.Errorf("%v, %d failed attempts: %q", err, attempts, requests)
			}
			if got := s.states(); got != "[file=2]" {
				t.Errorf("states %s", got)
			}
			if local := glob(t, s.dir.Name(), "*"); len(local) > 0 {
				t.Errorf("local files %q", local)
			}
			if got, err := os.ReadFile(filepath.Join(server.Root, "warcs", "file")); !bytes.Equal(got, file) {
				t.Errorf("object with %d bytes, %v", len(got), err)
			}
			if f, err := s.store.Stat(t.Context(), "file"); err != nil || f.SHA256 != sha256.Sum256(file) {
				t.Errorf("%+v, %v", f, err)
			}
			if got := objects(t, s.store); got != "[file]" {
				t.Errorf("objects %s", got)
			}
			if parts := glob(t, server.Root, "warcs", ".sgwtmp", "multipart", "*"); len(parts) > 0 {
				t.Errorf("parts of incomplete uploads: %q", parts)
			}
		})
	}
}

// objects returns the names of the objects of a store.
func objects(t *testing.T, s store.Store) string {
	t.Helper()
	names := []string{}
	for o, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Error(err)
			break
		}
		names = append(names, o.Name)
	}
	return fmt.Sprint(names)
}

// glob returns the names of the files that match a pattern.
func glob(t *testing.T, pattern ...string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(pattern...))
	if err != nil {
		t.Fatal(err)
	}
	return names
}
