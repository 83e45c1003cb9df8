package prospero_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/prospertest"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// library returns a server with an object of the given size and a directory.
func library(size int) (*prospertest.Server, []byte) {
	var body bytes.Buffer
	for n := 0; body.Len() < size; n++ {
		fmt.Fprintf(&body, "line %d, it's quoted\x00\n", n)
	}
	s := prospertest.NewServer("192.0.2.1")
	s.Add(prospertest.Object{Name: "d", Target: "DIRECTORY", Hidden: true})
	s.Add(prospertest.Object{Name: "d/text", Target: "FILE", Contents: body.Bytes(), Attributes: []string{
		fmt.Sprintf("INTRINSIC SIZE SEQUENCE %d' bytes'", body.Len()), "INTRINSIC ACCESS-METHOD SEQUENCE PROSPERO-CONTENTS '' '' '' ''"}})
	s.Add(prospertest.Object{Name: "d/e", Target: "DIRECTORY", Union: true})
	return s, body.Bytes()
}

func TestSuite(t *testing.T) {
	n := faultnet.NewNetwork(t)
	s, body := library(100 << 10)
	n.ServePackets("192.0.2.1:1525", faultnet.Packets{Session: s.Session})
	var refused []string
	for _, path := range []string{"a%00b", "a%0Ab", "a%0D", "a;b", "a;b=%00", "a;OBJECT-VERSION=x"} {
		refused = append(refused, host+path)
	}
	for _, port := range []string{"53", "123", "1900", "11211", "25", "0", "67061"} {
		refused = append(refused, "prospero://192.0.2.1:"+port+"/x")
	}
	fetchtest.Run(t, fetchtest.Suite{
		Schemes: schemes, Options: fetch.Options{Dial: n.Dial},
		Document: host + "d/text", Body: body,
		Missing: host + "d/nothing",
		Menu:    host + "d", Names: []string{"text", "e"},
		Rejected: refused, NoRanges: true,
	})
}

// TestLarge retrieves two megabytes over real sockets in constant memory. The
// server holds the reply twice.
func TestLarge(t *testing.T) {
	s, body := library(2 << 20)
	p := faultnet.ListenPackets(t, faultnet.Packets{Answer: s.Answer})
	c := client(t, func(o *fetch.Options) { o.Policy.Ports = []fetch.PortRule{{Port: p.Addr().Port()}} })
	schemetest.ConstantMemory(t, c, request(t, "prospero://"+p.Addr().String()+"/d/text"), int64(len(body)))
}

// TestManyLinks: the links of a directory of a thousand entries arrive one by
// one.
func TestManyLinks(t *testing.T) {
	const many = 1000
	s := prospertest.NewServer("h.example")
	s.Add(prospertest.Object{Name: "d", Target: "DIRECTORY", Hidden: true})
	for n := range many {
		s.Add(prospertest.Object{Name: fmt.Sprintf("d/%05d", n), Target: "FILE", Attributes: []string{"INTRINSIC SIZE SEQUENCE 5' bytes'"}})
	}
	client, _ := serve(t, faultnet.Packets{Answer: s.Answer})
	if got := strings.Count(outcome(client.Do(t.Context(), request(t, host+"d"))), "\n") + 1; got != many {
		t.Errorf("%d links", got)
	}
}

func BenchmarkObject(b *testing.B) {
	s, body := library(8 << 20)
	p := faultnet.ListenPackets(b, faultnet.Packets{Answer: s.Answer})
	c := client(b, func(o *fetch.Options) { o.Policy.Ports = []fetch.PortRule{{Port: p.Addr().Port()}} })
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		resp, err := c.Do(b.Context(), request(b, "prospero://"+p.Addr().String()+"/d/text"))
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, resp.Body); n != int64(len(body)) || err != nil {
			b.Fatal(n, err)
		}
		resp.Body.Close()
	}
}
