package ftp_test

import (
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/anyurl/fetch/uri"
)

// TestTrace: both sides of the control connection are heard byte for byte,
// but for what the user alone knows. A session that had died does not count.
func TestTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		control := faultnet.Script{faultnet.Send("220 hello\r\n"), obliging(
			faultnet.On("^PASS", 0, faultnet.Send("332 and the account?\r\n")),
			faultnet.On("^ACCT", 0, faultnet.Send("230 in\r\n")),
			faultnet.On("^RETR", 2, faultnet.Send("150 ok\r\n226 ok\r\n"), faultnet.Fin()))}
		w := newWorld(t, ftp.Options{Account: "4711"}, nil, control, faultnet.Script{faultnet.Send("hello\r\n")})
		var sent, got strings.Builder
		var phases []trace.Phase
		void := 0
		req := &fetch.Request{URL: uri.MustParse("ftp://bob:secret@192.0.2.1/x"), Trace: &trace.Trace{
			Sent:     func(p []byte) { sent.Write(p) },
			Received: func(p []byte) { got.Write(p) },
			Restart:  func() { sent.Reset(); got.Reset(); void++ },
			Phase:    func(p trace.Phase, _ net.Conn) { phases = append(phases, p) },
		}}
		ask := func() {
			t.Helper()
			resp, err := w.client.Do(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
		ask()
		said := string(w.control.Conns()[0].Sent())
		masked := strings.NewReplacer("secret", "***", "4711", "***").Replace(said)
		if sent.String() != masked || !strings.Contains(masked, "PASS ***\r\nACCT ***\r\n") {
			t.Errorf("heard %q, said %q", sent.String(), said)
		}
		if !strings.HasPrefix(got.String(), "220 hello\r\n331 go on\r\n") || !strings.HasSuffix(got.String(), "150 ok\r\n226 ok\r\n") {
			t.Errorf("heard %q", got.String())
		}
		if n := len(phases); n == 0 || !slices.IsSorted(phases[n-2:]) || phases[n-1] != trace.FirstByte {
			t.Errorf("phases %v", phases)
		}
		sent.Reset()
		got.Reset()
		ask() // on the same session, which ends with it
		if strings.Contains(sent.String(), "USER") || void != 0 {
			t.Errorf("heard %q, %d times void", sent.String(), void)
		}
		synctest.Wait()
		ask() // on a new one
		if !strings.HasPrefix(sent.String(), "USER") || void != 1 || len(w.control.Conns()) != 2 {
			t.Errorf("heard %q, %d times void", sent.String(), void)
		}
		w.end()
	})
}

// TestIPv6: PASV and PORT cannot say such an address (RFC 2428).
func TestIPv6(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := faultnet.NewNetwork(t)
		control := n.Serve("[2001:db8::1]:21", faultnet.Script{faultnet.Send("220 hello\r\n"), obliging()})
		n.Serve("[2001:db8::1]:40000", faultnet.Script{faultnet.Send("hello\r\n")})
		c := fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: n.Dial}, ftp.Schemes(ftp.Options{NoEPSV: true})...)
		w := &world{Network: n, control: control, client: c}
		body, _, err := w.get(t.Context(), "ftp://[2001:db8::1]/x")
		wantFault(t, body, err, 0)
		if said := string(control.Conns()[0].Sent()); !strings.Contains(said, "EPSV\r\n") || strings.Contains(said, "PASV\r\n") {
			t.Errorf("said %q", said)
		}
		w.end()
	})
}
