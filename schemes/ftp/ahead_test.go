package ftp_test

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/anyurl/fetch/uri"
)

// TestManyFiles: of many files in a row each comes whole, and each request
// hears a conversation of its own, though its first command was sent before.
func TestManyFiles(t *testing.T) {
	onServers(t, peer.FTPOptions{}, func(t *testing.T, s *peer.Server) {
		c := client(t, ftp.Options{})
		for i := range 12 {
			name := fmt.Sprintf("%02d", i)
			content := strings.Repeat(name, 100*i)
			s.Put(name, []byte(content))
			var talk strings.Builder
			req := &fetch.Request{URL: uri.MustParse("ftp://" + s.Addr + "/" + name), Trace: &trace.Trace{
				Sent:     func(p []byte) { talk.Write(p) },
				Received: func(p []byte) { talk.Write(p) },
			}}
			resp, err := c.Do(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || string(got) != content || resp.Size != int64(len(content)) {
				t.Errorf("%s: got %d of %d bytes, %v", name, len(got), len(content), err)
			}
			if i > 0 && !oneFile.MatchString(talk.String()) {
				t.Errorf("%s: heard %q", name, talk.String())
			}
		}
	})
}

// oneFile is the conversation about a file, but the first of a session.
var oneFile = regexp.MustCompile(`(?s)^EPSV\r\n(SIZE \d\d\r\nMDTM|MLST) \d\d\r\nRETR \d\d\r\n229 .*\n(213|250-).*\n150.*\n226[- ][^\n]*\n(226[- ][^\n]*\n)*$`)

// TestAheadTooLong: a port that was asked for a while ago is not used.
func TestAheadTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		control := faultnet.Script{faultnet.Send("220 (vsFTPd 3.0.3)\r\n"), obliging()}
		w := newWorld(t, ftp.Options{}, nil, control, faultnet.Script{faultnet.Send("hello\r\n")})
		for i := range 5 {
			if i == 4 {
				time.Sleep(3 * time.Second)
			}
			if body, _, err := w.get(t.Context(), "ftp://192.0.2.1/x"); err != nil || body != "hello\r\n" {
				t.Errorf("got %q, %v", body, err)
			}
		}
		synctest.Wait()
		_, said, _ := strings.Cut(string(w.control.Conns()[0].Sent()), "PWD\r\nTYPE I\r\n")
		file := "EPSV\r\nSIZE x\r\nMDTM x\r\nRETR x\r\n"
		want := "SIZE x\r\nMDTM x\r\nEPSV\r\nRETR x\r\n" + strings.Repeat(file, 3) + "EPSV\r\n" + file
		if said != want {
			t.Errorf("said %q\nwant %q", said, want)
		}
		w.end()
	})
}
