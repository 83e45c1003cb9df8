package wais_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/internal/wire/z3950"
)

// readRequest reads the single request that a client may have sent.
var readRequest = faultnet.Expect(`(?s)z2wais.*`)

// message returns a search response with records.
func message(records ...z3950.Record) string {
	return string(z3950.AppendMessage(nil, z3950.Header{}, &z3950.SearchResponse{Records: records}))
}

// initOK returns an InitResponse that accepts responses of size bytes.
func initOK(size uint32) string {
	return string(z3950.AppendMessage(nil, z3950.Header{}, &z3950.InitResponse{Accepted: true, Parameters: z3950.Parameters{Maximum: z3950.Some(size)}}))
}

func chunk(id, text string) z3950.Record {
	return z3950.Record{Kind: z3950.Text, ID: []byte(id), Text: []byte(text)}
}

func diagnostic(code, text string) z3950.Record {
	return z3950.Record{Kind: z3950.Diagnosis, Diagnostic: z3950.Diagnostic{Code: code, Message: []byte(text)}}
}

func document(headline string) z3950.Record {
	return z3950.Record{Kind: z3950.Document, ID: []byte("\x03\x01i"), Types: [][]byte{[]byte("TEXT")}, Headline: []byte(headline)}
}

// ready returns the first steps of a script: the reply to Init and the next
// request.
func ready(then ...faultnet.Step) faultnet.Script {
	return append(faultnet.Script{readRequest, faultnet.Send(initOK(1000)), readRequest}, then...)
}

// The id and URL paths of the document in scripts.
const (
	id      = "\x03\x01i"
	known   = "db/TEXT/8/3=i;" // eight bytes
	endless = "db/TEXT/3=i;"
)

// TestUnexpectedResponse: a response that arrives on an idle session is not the
// response to the next request.
func TestUnexpectedResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := faultnet.Send(message(chunk(id, "12345678")))
		client, s := serve(t,
			ready(answer, faultnet.Send(message(chunk(id, "forged!!"))), faultnet.Stall()), ready(answer))
		for range 2 {
			if r := get(t.Context(), t, client, host+known); r.Body != "12345678" || r.Err != nil {
				t.Errorf("got %q, %v", r.Body, r.Err)
			}
			synctest.Wait()
		}
		if n := len(s.Conns()); n != 2 {
			t.Errorf("%d connections, want 2", n)
		}
		client.Close()
	})
}

// TestLongDiagnostic checks that a server cannot cause a long error.
func TestLongDiagnostic(t *testing.T) {
	client, _ := serve(t, ready(faultnet.Send(message(diagnostic("SB", strings.Repeat("\x1b", 60_000))))))
	if r := get(t.Context(), t, client, host+known); fetch.FaultOf(r.Err) != fetch.NotFound || len(r.Err.Error()) > 2000 {
		t.Errorf("got %v with %d bytes", fetch.FaultOf(r.Err), len(r.Err.Error()))
	}
}

// TestFaults checks the fault and the time limit for each error of a server or
// the network.
func TestFaults(t *testing.T) {
	const soon = time.Second
	answer := func(records ...z3950.Record) faultnet.Step { return faultnet.Send(message(records...)) }
	raw := func(s string) faultnet.Step { return faultnet.Send(s) }
	for _, c := range []struct {
		name, path  string
		script      faultnet.Script
		fault, body string
		took        time.Duration
	}{
		{"refused", known, faultnet.Script{faultnet.Refuse()}, "connect", "", soon},
		{"no answer to the connection", known, faultnet.Script{faultnet.Blackhole()}, "timeout", "", 10 * time.Second},
		{"reset before Init is answered", known, faultnet.Script{readRequest, faultnet.Reset()}, "connect", "", soon},
		{"closed before Init is answered", known, faultnet.Script{readRequest}, "connect", "", soon},
		{"silent at Init", known, faultnet.Script{readRequest, faultnet.Stall()}, "timeout", "", time.Minute},
		{"closed within the answer to Init", known, faultnet.Script{readRequest, raw(initOK(1000)[:30])}, "truncated", "", soon},
		{"reset before the answer", known, ready(faultnet.Reset()), "connect", "", soon},
		{"silent before the answer", known, ready(faultnet.Stall()), "timeout", "", time.Minute},
		{"silent within the answer", known, ready(raw(message(chunk(id, "12345678"))[:50]), faultnet.Stall()), "timeout", "", time.Minute},
		{"slow answer", known, ready(faultnet.SendSlow(message(chunk(id, "12345678")), 1, 30*time.Second)), "timeout", "", 2 * time.Minute},
		{"closed within the answer", known, ready(raw(message(chunk(id, "12345678"))[:50])), "truncated", "", soon},
		{"reset in the middle", known, ready(answer(chunk(id, "1234")), readRequest, faultnet.Reset()), "truncated", "1234", soon},
		{"closed in the middle", known, ready(answer(chunk(id, "1234")), readRequest), "truncated", "1234", soon},
		{"silent in the middle", known, ready(answer(chunk(id, "1234")), readRequest, faultnet.Stall()), "timeout", "1234", time.Minute},
		{"restart in the middle", known, ready(answer(chunk(id, "1234")), readRequest, faultnet.Restart(time.Hour)), "truncated", "1234", soon},

		{"whole", known, ready(answer(chunk(id, "12345678"))), "ok", "12345678", soon},
		{"in two chunks", known, ready(answer(chunk(id, "1234")), readRequest, answer(chunk(id, "5678"))), "ok", "12345678", soon},
		{"shrunk between chunks", known, ready(answer(chunk(id, "1234")), readRequest, answer(chunk(id, "5"), diagnostic("SF", "range"))), "truncated", "12345", soon},
		{"gone between chunks", known, ready(answer(chunk(id, "1234")), readRequest, answer(diagnostic("SF", "gone"))), "truncated", "1234", soon},
		{"no text where some is due", known, ready(answer(chunk(id, "1234")), readRequest, answer()), "truncated", "1234", soon},
		{"more than was asked for", known, ready(answer(chunk(id, "123456789"))), "protocol", "", soon},
		{"another document", known, ready(answer(chunk("\x03\x01j", "12345678"))), "protocol", "", soon},
		{"another document in the middle", known, ready(answer(chunk(id, "1234")), readRequest, answer(chunk("other", "5678"))), "protocol", "1234", soon},
		{"two chunks at once", known, ready(answer(chunk(id, "1234"), chunk(id, "5678"))), "protocol", "", soon},
		{"chunk without id", known, ready(answer(z3950.Record{Kind: z3950.Text, Text: []byte("12345678")})), "ok", "12345678", soon},
		{"neither text nor reason", known, ready(answer()), "protocol", "", soon},

		{"length unknown, end said", endless, ready(answer(chunk(id, "1234"), diagnostic("SF", "range"))), "ok", "1234", soon},
		{"length unknown, end said alone", endless, ready(answer(chunk(id, "1234")), readRequest, answer(chunk(id, ""), diagnostic("SF", "range"))), "ok", "1234", soon},
		{"length unknown, end by an empty chunk", endless, ready(answer(chunk(id, "1234")), readRequest, answer(chunk(id, ""))), "ok", "1234", soon},
		{"length unknown, end by none", endless, ready(answer(chunk(id, "1234")), readRequest, answer()), "ok", "1234", soon},
		{"length unknown, nothing in it", endless, ready(answer(chunk(id, ""), diagnostic("SF", "range"))), "ok", "", soon},
		{"length unknown, closed", endless, ready(answer(chunk(id, "1234")), readRequest), "truncated", "1234", soon},

		{"no such document", known, ready(answer(diagnostic("SF", "Missing DocID"))), "not-found", "", soon},
		{"no such database", "db?x", ready(answer(diagnostic("S1", "The following database is not available: x"))), "not-found", "", soon},
		{"query that is not understood", "db?x", ready(answer(diagnostic("S1", "query syntax error"))), "server-perm", "", soon},
		{"busy", "db?x", ready(answer(diagnostic("S2", "load"))), "server-temp", "", soon},
		{"no right", known, ready(answer(diagnostic("T2", "no"))), "server-perm", "", soon},
		{"diagnostic behind a chunk", known, ready(answer(chunk(id, "1234"), diagnostic("SG", "disk"))), "server-temp", "", soon},
		{"diagnostic with a terminal's commands in it", known, ready(answer(diagnostic("S\x1b", "\x1b]0;x\x07\r\n\xff"))), "server-perm", "", soon},
		{"results, then a diagnostic", "db?x", ready(answer(document("a"), diagnostic("SD", "too many"))), "ok", `"a"`, soon},
		{"diagnostic before results", "db?x", ready(answer(diagnostic("S2", "load"), document("a"))), "server-temp", "", soon},
		{"no hit at all", "db?x", ready(answer()), "ok", "", soon},
		{"closed between results", "db?x", ready(raw(message(document("a"), document("b"))[:80])), "truncated", `"a"`, soon},
		{"hit without id", "db?x", ready(answer(z3950.Record{Kind: z3950.Document, Headline: []byte("a")})), "ok", `"kind":"info"`, soon},

		{"Init refused", known, faultnet.Script{readRequest, raw(string(z3950.AppendMessage(nil, z3950.Header{}, &z3950.InitResponse{})))}, "server-perm", "", soon},
		{"Init not understood", known, faultnet.Script{readRequest, raw("0000000000z2wais        0")}, "protocol", "", soon},
		{"Init answered by a search", known, faultnet.Script{readRequest, answer()}, "protocol", "", soon},
		{"search not understood", "db?x", ready(raw("0000000000z2wais        0")), "protocol", "", soon},
		{"search answered by Init", "db?x", ready(raw(initOK(1000))), "protocol", "", soon},
		{"NAK", known, ready(raw("0000000000n2wais        0")), "protocol", "", soon},
		{"another protocol", known, faultnet.Script{readRequest, raw("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n")}, "protocol", "", soon},
		{"garbage", known, faultnet.Script{readRequest, faultnet.Garbage(5000)}, "protocol", "", soon},
		{"length of 4 GiB", known, ready(raw("4294967296z2wais        0"), faultnet.Stall()), "protocol", "", soon},
		{"negative length", known, ready(raw("-000000005z2wais        0")), "protocol", "", soon},
		{"length too short", known, ready(raw(strings.Replace(message(chunk(id, "12345678")), "0000000033", "0000000032", 1))), "protocol", "", soon},
		{"record of 4 GiB", known, ready(raw("0000000024z2wais        0\x00\x0b\x17\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00c\x8f\xff\xff\xff\x7f\x81\x19\x00\x00\x00")), "protocol", "", soon},
		{"record longer than the message", known, ready(raw("0000000018z2wais        0\x00\x0b\x17\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00c\x03\x81\x19\x7f")), "protocol", "", soon},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := serve(t, c.script)
				got := get(t.Context(), t, client, host+c.path)
				if strings.Contains(c.body, `"`) && strings.Contains(got.Body, c.body) { // part of an entry
					c.body = got.Body
				}
				got.Check(t, c.fault, c.body, c.took)
				client.Close()
				s.Close()
			})
		})
	}
}

// TestTooLarge: a chunk that does not fit into a response is requested again
// with half the size, down to a minimum.
func TestTooLarge(t *testing.T) {
	for name, refusal := range map[string]string{
		"empty message": "0000000000z2wais        0", "diagnostic": message(diagnostic("SJ", "exceeds"))} {
		c, s := serve(t, faultnet.Script{readRequest, faultnet.Send(initOK(1000)), readRequest, faultnet.Send(refusal), readRequest, faultnet.Send(refusal), readRequest, faultnet.Send(message(chunk(id, "12345678")))})
		got := get(t.Context(), t, c, host+"db/TEXT/1000/3=i;#line=0,50")
		if got.Fault() != "truncated" {
			t.Errorf("%s: got %+v", name, got)
		}
		all, _ := messages(t, c, s, 0)
		var ends []int64
		for _, p := range all[1:4] {
			r, _ := p.(*z3950.Search).Retrieval()
			ends = append(ends, r.End)
		}
		if ends[0] != 10 || ends[1] != 5 || ends[2] != 2 {
			t.Errorf("%s: asked for lines to %v", name, ends)
		}

		script := faultnet.Script{readRequest, faultnet.Send(initOK(1000))}
		for range 20 {
			script = append(script, readRequest, faultnet.Send(refusal))
		}
		c, s = serve(t, script)
		if got := get(t.Context(), t, c, host+known); got.Fault() != "protocol" {
			t.Errorf("%s for ever: got %+v", name, got)
		}
		if all, _ := messages(t, c, s, 0); len(all) > 6 {
			t.Errorf("%s for ever: asked %d times", name, len(all))
		}
	}
}

// TestSmallResponses: with small negotiated sizes, the chunks are small and the
// document is complete.
func TestSmallResponses(t *testing.T) {
	text := strings.Repeat("0123456789abcdef\n", 300)
	for _, size := range []uint32{50, 200, 300, 5000, 100000} {
		server := &waistest.Server{Buffer: size, Databases: map[string]*waistest.Database{"db": {Documents: []*waistest.Document{waistest.NewText("/a", "a", text)}}}}
		c, s := serve(t, faultnet.Script{server.Step()})
		for _, path := range []string{"db/TEXT/5100/3=0%200%20/a;", "db/TEXT/3=0%200%20/a;", "db/TEXT/3=0%200%20/a;#line=0,300"} {
			got := get(t.Context(), t, c, host+path)
			if size == 50 {
				if got.Fault() != "protocol" {
					t.Errorf("answers of %d: got %s, %v", size, got.Fault(), got.Err)
				}
				continue
			}
			if got.Err != nil || got.Body != text {
				t.Errorf("answers of %d: %s: got %d bytes, %v", size, path, len(got.Body), got.Err)
			}
		}
		if n := len(s.Conns()); n != 1 && size > 50 { // into which the answer to Init does not fit
			t.Errorf("answers of %d: %d connections", size, n)
		}
		c.Close()
	}
}

// TestEndless: a document without an end stops at the limit.
func TestEndless(t *testing.T) {
	if testing.Short() {
		t.Skip("receives 20 MiB")
	}
	doc := &waistest.Document{Path: "/a", Bodies: []waistest.Body{{Type: "TEXT", Size: 1 << 40, Bytes: waistest.Pattern{}}}}
	server := &waistest.Server{Databases: map[string]*waistest.Database{"db": {Documents: []*waistest.Document{doc}}}}
	n := faultnet.NewNetwork(t)
	n.Serve("192.0.2.1:210", faultnet.Script{server.Step()})
	c := client(t, func(o *fetch.Options) { o.Dial, o.Policy.MaxBody = n.Dial, 20<<20 })
	if got := get(t.Context(), t, c, host+"db/TEXT/3=0%200%20/a;"); !errors.Is(got.Err, fetch.TooLarge) {
		t.Errorf("got %d bytes, %v", len(got.Body), got.Err)
	}
}

// TestPool: an idle session is reused, a closed one is replaced, and one that
// received unexpected data is dropped.
func TestPool(t *testing.T) {
	whole := faultnet.Send(message(chunk(id, "12345678")))
	for _, c := range []struct {
		name   string
		first  faultnet.Script
		conns  int
		second string
	}{
		{"alive", ready(whole, readRequest, whole, faultnet.Stall()), 1, "ok"},
		{"closed meanwhile", ready(whole), 2, "ok"},
		{"reset at the request", ready(whole, readRequest, faultnet.Reset()), 2, "ok"},
		{"closed within the answer", ready(whole, readRequest, faultnet.Send(message(chunk(id, "12345678"))[:30])), 1, "truncated"},
		{"unasked answer at once", ready(faultnet.Send(message(chunk(id, "12345678")) + message(chunk(id, "evil")))), 2, "ok"},
		{"unasked answer later", ready(whole, faultnet.Delay(time.Second), faultnet.Send(message(chunk(id, "evil"))), faultnet.Stall()), 2, "ok"},
		{"Init refused", faultnet.Script{readRequest, faultnet.Send(string(z3950.AppendMessage(nil, z3950.Header{}, &z3950.InitResponse{}))), readRequest, whole, faultnet.Stall()}, 2, "ok"},
		{"Init not understood", faultnet.Script{readRequest, faultnet.Send("0000000000z2wais        0"), readRequest, whole, faultnet.Stall()}, 2, "ok"},
		{"told no, and at rest", ready(faultnet.Send(message(diagnostic("SF", "gone"))), readRequest, whole, faultnet.Stall()), 1, "ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := serve(t, c.first, ready(whole, faultnet.Stall()))
				get(t.Context(), t, client, host+known)
				time.Sleep(2 * time.Second)
				if got := get(t.Context(), t, client, host+known); got.Fault() != c.second {
					t.Errorf("got %+v", got)
				}
				if n := len(s.Conns()); n != c.conns {
					t.Errorf("%d connections, want %d", n, c.conns)
				}
				client.Close()
				s.Close()
			})
		})
	}
}

// TestIdle: an idle session is closed after a timeout, and by Client.Close.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Int32
		c, s := serve(t, ready(faultnet.Send(message(chunk(id, "12345678"))), faultnet.Do("end", func(c *faultnet.Conn) error {
			c.Read(make([]byte, 1))
			ended.Add(1)
			return nil
		})))
		get(t.Context(), t, c, host+known)
		time.Sleep(44 * time.Second)
		if synctest.Wait(); ended.Load() != 0 {
			t.Error("closed too soon")
		}
		time.Sleep(2 * time.Second)
		if synctest.Wait(); ended.Load() != 1 {
			t.Error("not closed")
		}
		get(t.Context(), t, c, host+known)
		c.Close()
		if synctest.Wait(); ended.Load() != 2 {
			t.Error("not closed with the Client")
		}
		s.Close()
	})
}

// TestSweep makes every network operation fail.
func TestSweep(t *testing.T) {
	text := strings.Repeat("0123456789abcdef\n", 20000)
	server := &waistest.Server{Databases: map[string]*waistest.Database{"db": {Documents: []*waistest.Document{waistest.NewText("/a", "a", text)}}}}
	schemetest.Sweep{Schemes: schemes, URLs: []string{host + "db/TEXT/340000/3=0%200%20/a;"}, Body: text,
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:210", faultnet.Script{server.Step()}).Close
		},
	}.Run(t)
}
