package clientflags

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
)

// TestJudge checks that a judge denies what a page of a stranger must not reach,
// that it permits a typed URL, and that it opens no connection.
func TestJudge(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var accepted atomic.Int32
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for c, err := listener.Accept(); err == nil; c, err = listener.Accept() {
			accepted.Add(1)
			c.Close()
		}
	}()
	var f Flags
	var set options.Set
	f.Register(&set)
	judge, err := f.OpenJudge(t.Context(), &console.Streams{Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer judge.Close()
	addr := listener.Addr().String()
	for _, text := range []string{
		"http://" + addr + "/", "https://" + addr + "/", "dav://" + addr + "/", "ftp://" + addr + "/", "ftps://" + addr + "/", "gopher://" + addr + "/",
		"gemini://" + addr + "/", "sftp://" + addr + "/", "nntp://" + addr + "/a.b", "imap://" + addr + "/", "pop://" + addr + "/", "ldap://" + addr + "/",
		"rsync://" + addr + "/m/", "smb://" + addr + "/m/", "nfs://" + addr + "/", "wais://" + addr + "/d", "prospero://" + addr + "/d", "tftp://" + addr + "/d", "dict://" + addr + "/d:a",
	} {
		u := uri.MustParse(text)
		for _, from := range []*fetch.Source{nil, mirror.Stranger(u)} {
			_, err := judge.Do(t.Context(), &fetch.Request{URL: u, Op: fetch.Get, From: from})
			_, denied := errors.AsType[*fetch.Refusal](err)
			if err == nil || denied != (from != nil) && fetch.FaultOf(err) != fetch.BadPort {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	file := uri.MustParse("file:///")
	if _, err := judge.Do(t.Context(), &fetch.Request{URL: file, Op: fetch.Get, From: mirror.Stranger(file)}); fetch.FaultOf(err) != fetch.BadReferral {
		t.Errorf("a local folder: %v", err)
	}
	listener.Close()
	<-ended
	if n := accepted.Load(); n > 0 {
		t.Errorf("%d connections", n)
	}
}
