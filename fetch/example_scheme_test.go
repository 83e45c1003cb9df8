package fetch_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

var modified = time.Date(1994, 12, 1, 0, 0, 0, 0, time.UTC)

func hello() io.ReadSeeker { return strings.NewReader("hello, world\n") }

// finger is a scheme of one's own: finger://HOST/USER, RFC 1288.
func finger() fetch.Scheme {
	user := func(u uri.URI) (string, error) {
		name, err := uri.Unescape(strings.TrimPrefix(u.Path(), "/"))
		if err != nil || strings.ContainsAny(name, "\r\n\x00") { // no URL adds a line to the wire
			return "", fetch.BadURL.Errorf("not the name of a user")
		}
		return name, nil
	}
	return fetch.Scheme{
		Name:  "finger",
		Port:  79,
		Ports: fetch.Ports{Class: fetch.TextPorts}, // a URL may name any port that no other service of text has
		Help:  "finger://HOST/USER: what a host tells about a user",
		Plan: func(req *fetch.Request) ([]fetch.Step, error) {
			name, err := user(req.URL)
			return []fetch.Step{{Verb: name}}, err
		},
		Open: func(env fetch.Env) fetch.Driver {
			return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
				name, err := user(req.URL)
				if err != nil {
					return nil, err
				}
				if req.Op == fetch.Stat { // nothing is known without the body, and nobody is asked
					return &fetch.Response{Kind: fetch.Document, Size: -1, Body: http.NoBody}, nil
				}
				target, err := fetch.TargetOf(req.URL, 79)
				if err != nil {
					return nil, err
				}
				conn, err := env.Net.DialContext(ctx, "tcp", target.Address())
				if err != nil {
					return nil, err
				}
				peer := fetch.PeerOf(conn)
				conn = req.Trace.Tap(conn)
				context.AfterFunc(ctx, func() { conn.Close() }) // ctx ends the Body too
				if _, err := io.WriteString(conn, name+"\r\n"); err != nil {
					conn.Close()
					return nil, err
				}
				return &fetch.Response{Kind: fetch.Document, Media: "text/plain", Size: -1, Peer: peer, Body: conn}, nil
			})
		},
	}
}

// resolver is a table of names.
type resolver map[string]netip.Addr

func (r resolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	addr, ok := r[host]
	if !ok {
		return nil, fetch.DNS.Errorf("no such host: %s", host)
	}
	return []netip.Addr{addr}, nil
}

// A scheme of one's own, under a policy, a resolver and a dialer of one's own.
func ExampleScheme() {
	names := resolver{
		"public.example": netip.MustParseAddr("9.9.9.9"),
		"inside.example": netip.MustParseAddr("10.0.0.1"),
	}
	dial := func(_ context.Context, _ string, to netip.AddrPort) (net.Conn, error) {
		fmt.Println("dial", to)
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			var line string
			fmt.Fscanln(there, &line)
			fmt.Fprintf(there, "%s is at lunch\r\n", line)
		}()
		return here, nil
	}
	client := fetch.New(fetch.Options{Resolver: names, Dial: dial}, finger()) // the zero Policy: Public
	defer client.Close()

	for _, url := range []string{"finger://public.example/alice", "finger://inside.example/alice", "finger://public.example/a%0d%0ab"} {
		resp, err := client.Get(context.Background(), url)
		if err != nil {
			fmt.Println(fetch.FaultOf(err))
			continue
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			log.Fatal(err)
		}
		resp.Body.Close()
		fmt.Printf("%q\n", body)
	}
	// Output:
	// dial 9.9.9.9:79
	// "alice is at lunch\r\n"
	// policy-address
	// invalid-uri
}
