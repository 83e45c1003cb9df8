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
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

var modified = time.Date(1994, 12, 1, 0, 0, 0, 0, time.UTC)

func hello() io.ReadSeeker { return strings.NewReader("hello, world\n") }

// userOf returns the user name in a finger URL.
func userOf(u uri.URI) (string, error) {
	name, err := uri.Unescape(strings.TrimPrefix(u.Path(), "/"))
	if err != nil || strings.ContainsAny(name, "\r\n\x00") { // no URL may add a line to the connection
		return "", fetch.BadURL.Errorf("invalid user name")
	}
	return name, nil
}

// finger returns the scheme of finger://HOST/USER (RFC 1288).
func finger() fetch.Scheme {
	return fetch.Scheme{
		Name:  "finger",
		Port:  79,
		Ports: scheme.Ports{Class: scheme.TextPorts}, // blocks the ports of other text services
		Help:  "finger://HOST/USER: information about a user of a host",
		Plan: func(req *fetch.Request) ([]scheme.Step, error) {
			name, err := userOf(req.URL)
			return []scheme.Step{{Verb: name}}, err
		},
		Open: func(env fetch.Env) fetch.Driver { return fingerDriver{env.Net} },
	}
}

// A fingerDriver retrieves finger URLs.
type fingerDriver struct{ net fetch.Net }

// Do sends the user name and returns the response of the server as the Body.
func (d fingerDriver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	name, err := userOf(req.URL)
	if err != nil {
		return nil, err
	}
	resp := &fetch.Response{Kind: fetch.Document, Media: "text/plain", Size: -1, Body: http.NoBody}
	if req.Op == fetch.Stat { // finger has no metadata, so no request is sent
		return resp, nil
	}
	target, err := fetch.TargetOf(req.URL, 79)
	if err != nil {
		return nil, err
	}
	conn, err := d.net.DialContext(ctx, "tcp", target.Address())
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() }) // the end of ctx interrupts Read
	traced := req.Trace.Tap(conn)
	if _, err := io.WriteString(traced, name+"\r\n"); err != nil {
		conn.Close()
		return nil, err
	}
	resp.Peer, resp.Body = fetch.PeerOf(conn), traced
	return resp, nil
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

// This example uses a scheme of the program with its own resolver and dialer.
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
