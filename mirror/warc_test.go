package mirror_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/warc"
)

// records returns the headers and the blocks of all records of an archive.
func records(t testing.TB, dir string) (all []*warc.Header, blocks []string) {
	t.Helper()
	for _, name := range warcs(t, dir) {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for r := warc.NewReader(f); ; {
			h, err := r.Next()
			if err == io.EOF {
				break
			}
			block, err2 := io.ReadAll(r)
			if err != nil || err2 != nil {
				t.Fatal(name, err, err2)
			}
			all, blocks = append(all, h), append(blocks, string(block))
		}
	}
	return all, blocks
}

// TestRecords checks the records for each state of a URL.
func TestRecords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		text := strings.Repeat("a text that is twice there\n", 100)
		w.web("a.example", webSite{
			"/":        `<a href=one.txt><a href=two.txt><a href=none><a href=to><a href="http://dead.example/x">`,
			"/one.txt": text, "/two.txt": text, "/to": "-> /one.txt",
		})
		w.name("dead.example")
		o := w.options("http://a.example/")
		o.Scope.Reach, o.WARC.Size = mirror.Any, 3000
		run(t, o)
		heads, blocks := records(t, o.Dir)
		got := map[string]string{}
		ids := map[string]bool{}
		for i, h := range heads {
			u := h.Target()
			got[u] += string(h.Type()) + " "
			ids[h.ID()] = true
			switch {
			case h.Type() == warc.Revisit && (!ids[h.Get("WARC-Refers-To")[1:len(h.Get("WARC-Refers-To"))-1]] ||
				h.Get("WARC-Refers-To-Target-URI") == "" || h.Get("WARC-Refers-To-Date") == ""):
				t.Errorf("revisit record without a target: %v", h.Fields)
			case h.Type() == warc.Response && !strings.HasPrefix(blocks[i], "HTTP/1.1 "), h.Type() == warc.Request && !strings.HasPrefix(blocks[i], "GET /"):
				t.Errorf("%s record of %s starts with %.20q", h.Type(), u, blocks[i])
			case u == "http://dead.example/x" && !strings.Contains(blocks[i], "fault: connect"):
				t.Errorf("failure record %q", blocks[i])
			}
		}
		one, two := got["http://a.example/one.txt"], got["http://a.example/two.txt"]
		if one > two {
			one, two = two, one
		}
		if one != "response request " || two != "revisit request " || got["http://a.example/none"] != "response request " ||
			got["http://a.example/to"] != "response request " || got["http://dead.example/x"] != "metadata " {
			t.Errorf("%q", got)
		}
		if n := len(warcs(t, o.Dir)); n < 2 {
			t.Errorf("%d files of 3000 bytes", n)
		}
		checkVerify(t, o.Dir)
	})
}

// TestTLS checks that the records of an https exchange contain the versions of
// HTTP and TLS.
func TestTLS(t *testing.T) {
	t.Parallel()
	s := peer.Nginx(t, peer.NginxOptions{HTTP2: true})
	s.Put("index.html", []byte("<p>a page"))
	o := options(t, "https://"+s.TLSAddr+"/")
	options := fetch.Options{Policy: fetch.Typed(), TLS: &tls.Config{RootCAs: s.Cert.Pool}}
	o.Client = fetch.New(options, schemes.All(schemes.Options{})...)
	defer o.Client.Close()
	run(t, o)
	heads, _ := records(t, o.Dir)
	n := 0
	for _, h := range heads {
		protocols := h.Fields.Values("WARC-Protocol")
		if h.Type() != warc.Response {
			continue
		}
		if n++; len(protocols) != 2 || protocols[0] != "h2" || !strings.HasPrefix(protocols[1], "tls/1.") || !strings.HasPrefix(h.Get("WARC-Cipher-Suite"), "TLS_") {
			t.Errorf("%q %q", protocols, h.Get("WARC-Cipher-Suite"))
		}
	}
	if n == 0 {
		t.Error("no records")
	}
	o.Dir, o.WARC = t.TempDir(), nil
	run(t, o)
}

// TestUncommittedBytes checks that uncommitted bytes are removed and reported.
// If the last record lost bytes, the run continues after the record before it.
func TestUncommittedBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		f := newFaultySite()
		w.web("a.example", f)
		o := w.options("http://a.example/")
		o.Limits.Files = 5
		if _, err := mirror.Run(t.Context(), o); !errors.Is(err, mirror.ErrLimit) {
			t.Fatal(err)
		}
		name := warcs(t, o.Dir)[0] // as if the run had been killed here
		open := name + warc.OpenSuffix
		whole, err := os.ReadFile(name)
		if err == nil {
			err = os.Rename(name, open)
		}
		if err != nil {
			t.Fatal(err)
		}
		var member bytes.Buffer
		z := gzip.NewWriter(&member)
		fmt.Fprint(z, "WARC/1.1\r\nWARC-Type: resource\r\n")
		z.Close()
		for name, tail := range map[string]string{"torn": "\x1f\x8b\x08\x00torn", "junk": "junk", "half a record": member.String(), "a record again": string(whole[len(whole)-1:])} {
			if err := os.WriteFile(open, append(bytes.Clone(whole), tail...), 0o666); err != nil {
				t.Fatal(err)
			}
			for f, err := range mirror.Open(mirror.Location{Dir: o.Dir}).Verify(t.Context()) {
				if f.Path != "" && !f.Note || err != nil && !errors.Is(err, mirror.ErrIncomplete) {
					t.Errorf("%s: Verify reports damage: %v %v", name, f, err)
				}
			}
			said := ""
			o.Event = func(e mirror.Event) {
				if e.State == "cut" {
					said = e.Note
				}
			}
			o.Limits.Files = 0
			o.Limits.MinFree = 1 << 60 // the run ends at its start
			if _, err := mirror.Run(t.Context(), o); !errors.Is(err, fetch.DiskFull) {
				t.Errorf("%s: %v", name, err)
			}
			if want := fmt.Sprintf("%s: removed %d uncommitted bytes at the end", filepath.Base(warcs(t, o.Dir)[0]), len(tail)); said != want {
				t.Errorf("%s: note %q, want %q", name, said, want)
			}
			if got, err := os.ReadFile(warcs(t, o.Dir)[0]); !bytes.Equal(got, whole) || err != nil {
				t.Errorf("%s: %d bytes, want %d: %v", name, len(got), len(whole), err)
			}
			if err := os.Rename(warcs(t, o.Dir)[0], open); err != nil {
				t.Fatal(err)
			}
		}
		o.Limits = mirror.Limits{}
		if err := os.WriteFile(open, whole[:len(whole)-10], 0o666); err != nil {
			t.Fatal(err)
		}
		run(t, o)
		seen := map[string]int{}
		heads, _ := records(t, o.Dir)
		for _, h := range heads {
			if seen[h.Target()+string(h.Type())]++; seen[h.Target()+string(h.Type())] > 1 && h.Target() != "" {
				t.Errorf("%s of %s twice", h.Type(), h.Target())
			}
		}
	})
}

// TestNewerDatabase checks that a database of a newer version is rejected and
// not changed.
func TestNewerDatabase(t *testing.T) {
	t.Parallel()
	o := options(t, "file://"+t.TempDir()+"/")
	run(t, o)
	db, err := sqlite.Open(filepath.Join(o.Dir, "fetch.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Script("pragma user_version = 99"), db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := mirror.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "written by a newer version of fetch") || fetch.FaultOf(err) != fetch.Local {
		t.Errorf("%v: %v", fetch.FaultOf(err), err)
	}
	if err := os.WriteFile(filepath.Join(o.Dir, "fetch.db"), []byte("no database, whatever its name is"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := mirror.Run(t.Context(), o); err == nil || fetch.FaultOf(err) != fetch.Local {
		t.Errorf("%v: %v", fetch.FaultOf(err), err)
	}
}
