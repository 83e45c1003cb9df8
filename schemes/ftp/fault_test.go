package ftp_test

import (
	"context"
	"crypto/tls"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/anyurl/fetch/uri"
)

// A world is a server in memory and a client of it.
type world struct {
	*faultnet.Network
	control *faultnet.Server
	client  *fetch.Client
}

func newWorld(t *testing.T, opts ftp.Options, change func(*fetch.Options), control, data faultnet.Script) *world {
	w := &world{Network: faultnet.NewNetwork(t)}
	w.control = w.Serve("192.0.2.1:21", control)
	w.Serve("192.0.2.1:40000", data)
	o := fetch.Options{Policy: fetch.Typed(), Dial: w.Dial}
	if change != nil {
		change(&o)
	}
	w.client = fetch.New(o, ftp.Schemes(opts)...)
	return w
}

// get retrieves a URL.
func (w *world) get(ctx context.Context, url string) (body string, took time.Duration, err error) {
	r := schemetest.Exchange(ctx, w.client, &fetch.Request{URL: uri.MustParse(url)})
	return r.Body, r.Took, r.Err
}

func (w *world) end() {
	w.client.Close()
	synctest.Wait()
	w.control.Close()
}

func wantFault(t *testing.T, body string, err error, want fetch.Fault) {
	t.Helper()
	if want == 0 && (err != nil || body != "hello\r\n") || want != 0 && fetch.FaultOf(err) != want {
		t.Errorf("got %q, %v, want %v", body, err, want)
	}
}

// TestTLSFaults: what fails on the way to an encrypted connection is never
// followed by a login in clear.
func TestTLSFaults(t *testing.T) {
	certs := faultnet.NewCerts(t, "192.0.2.1")
	begin := func(steps ...faultnet.Step) []faultnet.Step {
		return append([]faultnet.Step{faultnet.Send("234 go on\r\n")}, steps...)
	}
	for _, test := range []struct {
		name string
		tls  scheme.TLSMode
		auth []faultnet.Step
		want fetch.Fault
	}{
		{"fine", scheme.TLSRequired, begin(certs.TLS()), 0},
		{"another host", scheme.TLSRequired, begin(certs.WrongHost()), fetch.TLS},
		{"expired", scheme.TLSWanted, begin(certs.Expired()), fetch.TLS},
		{"self-signed", scheme.TLSWanted, begin(certs.SelfSigned()), fetch.TLS},
		{"silent handshake", scheme.TLSWanted, begin(faultnet.TLSStall()), fetch.Timeout},
		{"cut handshake", scheme.TLSWanted, begin(faultnet.TLSCut()), fetch.Connect},
		{"text in clear behind 234", scheme.TLSWanted, []faultnet.Step{faultnet.Send("234 go on\r\n230 you are in\r\n"), faultnet.Stall()}, fetch.Protocol},
		{"not TLS", scheme.TLSWanted, begin(faultnet.Send("530 no\r\n"), faultnet.Stall()), fetch.TLS},
		{"stripped", scheme.TLSRequired, []faultnet.Step{faultnet.Send("502 what?\r\n")}, fetch.TLS},
		{"not there", scheme.TLSWanted, []faultnet.Step{faultnet.Send("502 what?\r\n")}, 0},
		{"reset", scheme.TLSWanted, []faultnet.Step{faultnet.Reset()}, fetch.Connect},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				control := faultnet.Script{faultnet.Send("220 hello\r\n"), obliging(
					faultnet.On("^AUTH TLS$", 1, test.auth...), faultnet.On("^(PBSZ 0|PROT P)$", 0, faultnet.Send("200 fine\r\n")))}
				data := faultnet.Script{faultnet.Send("hello\r\n")}
				if test.name == "fine" {
					data = faultnet.Script{certs.TLS(), faultnet.Send("hello\r\n")}
				}
				w := newWorld(t, ftp.Options{TLS: test.tls}, func(o *fetch.Options) { o.TLS = &tls.Config{RootCAs: certs.Pool} }, control, data)
				body, took, err := w.get(t.Context(), "ftp://bob:secret@192.0.2.1/x")
				wantFault(t, body, err, test.want)
				w.end()
				if said := string(w.control.Conns()[0].Sent()); test.want != 0 && strings.Contains(said, "USER") || took > time.Minute {
					t.Errorf("said %q, took %v", said, took)
				}
			})
		})
	}
}

// TestDataTLSFaults: the same beside a control connection that is encrypted.
func TestDataTLSFaults(t *testing.T) {
	certs := faultnet.NewCerts(t, "192.0.2.1")
	hello := faultnet.Send("hello\r\n")
	for _, test := range []struct {
		name string
		data faultnet.Script
		want fetch.Fault
	}{
		{"fine", faultnet.Script{certs.TLS(), hello}, 0},
		{"no close_notify", faultnet.Script{certs.TLS(), hello, faultnet.Cut()}, 0}, // 226 is the proof
		{"no close_notify, and not all", faultnet.Script{certs.TLS(), faultnet.Send("hel"), faultnet.Cut()}, fetch.Truncated},
		{"another host", faultnet.Script{certs.WrongHost()}, fetch.TLS},
		{"in clear", faultnet.Script{hello, faultnet.Stall()}, fetch.TLS},
		{"silent handshake", faultnet.Script{faultnet.TLSStall()}, fetch.Timeout},
		{"cut handshake", faultnet.Script{faultnet.TLSCut()}, fetch.Connect},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				control := faultnet.Script{faultnet.Send("220 hello\r\n"), obliging(
					faultnet.On("^AUTH TLS$", 1, faultnet.Send("234 go on\r\n"), certs.TLS()),
					faultnet.On("^(PBSZ 0|PROT P)$", 0, faultnet.Send("200 fine\r\n")))}
				w := newWorld(t, ftp.Options{TLS: scheme.TLSRequired}, func(o *fetch.Options) { o.TLS = &tls.Config{RootCAs: certs.Pool} }, control, test.data)
				body, took, err := w.get(t.Context(), "ftp://192.0.2.1/x")
				wantFault(t, body, err, test.want)
				if took > time.Minute {
					t.Errorf("took %v", took)
				}
				w.end()
			})
		})
	}
}

// TestUnprotected: a server that encrypts the control connection alone.
func TestUnprotected(t *testing.T) {
	certs := faultnet.NewCerts(t, "192.0.2.1")
	for tlsMode, want := range map[scheme.TLSMode]fetch.Fault{scheme.TLSRequired: fetch.TLS, scheme.TLSWanted: 0} {
		synctest.Test(t, func(t *testing.T) {
			control := faultnet.Script{faultnet.Send("220 hello\r\n"), obliging(faultnet.On("^AUTH TLS$", 1, faultnet.Send("234 go on\r\n"), certs.TLS()))}
			w := newWorld(t, ftp.Options{TLS: tlsMode}, func(o *fetch.Options) { o.TLS = &tls.Config{RootCAs: certs.Pool} }, control, faultnet.Script{faultnet.Send("hello\r\n")})
			body, _, err := w.get(t.Context(), "ftp://192.0.2.1/x")
			wantFault(t, body, err, want)
			w.end()
		})
	}
}

// TestSlow: a drip is a stall, and a ctx ends whatever waits.
func TestSlow(t *testing.T) {
	control := func() faultnet.Script {
		return faultnet.Script{faultnet.Send("220 hello\r\n"), obliging(
			faultnet.On("^RETR", 1, faultnet.Send("150 ok\r\n"), faultnet.Stall()),
			faultnet.On("^SIZE", 0, faultnet.Send("500 what?\r\n")))}
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, ftp.Options{}, nil, control(), faultnet.Script{faultnet.SendSlow(strings.Repeat("x", 1<<10), 1, time.Second)})
		_, took, err := w.get(t.Context(), "ftp://192.0.2.1/x")
		wantFault(t, "", err, fetch.Timeout)
		if took > 2*time.Minute {
			t.Errorf("took %v", took)
		}
		w.end()
	})
	for _, url := range []string{"ftp://192.0.2.1/x", "ftp://192.0.2.1/"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, ftp.Options{}, nil, control(), faultnet.Script{faultnet.Stall()})
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, took, err := w.get(ctx, url)
			wantFault(t, "", err, fetch.Timeout)
			if took != 5*time.Second {
				t.Errorf("took %v", took)
			}
			w.end()
		})
	}
	for name, script := range map[string]faultnet.Script{
		"greeting": {faultnet.Stall()},
		"login":    {faultnet.Send("220 hello\r\n"), faultnet.Stall()},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, ftp.Options{}, nil, script, nil)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, took, err := w.get(ctx, "ftp://192.0.2.1/x")
			wantFault(t, "", err, fetch.Timeout)
			if took != time.Second {
				t.Errorf("%s: took %v", name, took)
			}
			w.end()
		})
	}
}

// TestSilentQuit: nobody waits for the answer to a goodbye.
func TestSilentQuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		control := faultnet.Script{faultnet.Send("220 hello\r\n"), obliging(faultnet.On("^QUIT$", 0, faultnet.Stall()))}
		w := newWorld(t, ftp.Options{}, nil, control, faultnet.Script{faultnet.Send("hello\r\n")})
		body, _, err := w.get(t.Context(), "ftp://192.0.2.1/x")
		wantFault(t, body, err, 0)
		start := time.Now()
		w.client.Close()
		said := w.control.Conns()[0].All() // until our side has ended
		if took := time.Since(start); took > 0 || !strings.HasSuffix(string(said), "QUIT\r\n") {
			t.Errorf("took %v, said %q", took, said)
		}
		w.end()
	})
}

// TestSweep lets each operation of two requests on one session fail. The next
// request must not be affected.
func TestSweep(t *testing.T) {
	schemetest.Sweep{
		Schemes: func() []fetch.Scheme { return ftp.Schemes(ftp.Options{}) },
		URLs:    []string{"ftp://192.0.2.1/a/x", "ftp://192.0.2.1/x"}, Body: "hello\r\n", Last: "ftp://192.0.2.1/x",
		Serve: func(n *faultnet.Network) func() {
			n.Serve("192.0.2.1:40000", faultnet.Script{faultnet.Send("hello\r\n")})
			return n.Serve("192.0.2.1:21", faultnet.Script{faultnet.Send("220 (vsFTPd 3.0.3)\r\n"), obliging()}).Close
		},
	}.Run(t)
}

func TestUnresolved(t *testing.T) {
	schemetest.Names(t, ftp.Schemes(ftp.Options{}), "ftp://nowhere.example/x")
}
