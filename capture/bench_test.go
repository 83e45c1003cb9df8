package capture_test

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/mitm"
	fetchhttp "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/warc"
)

// BenchmarkRecord sends a body of 64 MiB through the proxy, which records it.
func BenchmarkRecord(b *testing.B) {
	body := make([]byte, 64<<20)
	rand.NewChaCha8([32]byte{}).Read(body)
	var sent byte
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	}))
	defer site.Close()
	root, err := os.OpenRoot(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	files, err := warc.NewWriter(root, warc.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer files.Close()
	ca, err := mitm.NewCA(time.Now())
	if err != nil {
		b.Fatal(err)
	}
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, fetchhttp.Schemes(fetchhttp.Options{})...)
	defer client.Close()
	h := &capture.Handler{Client: client, From: typed, Store: capture.NewWriter(files, capture.WriterOptions{}).Store}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	served := make(chan error, 1)
	go func() { served <- (&mitm.Server{CA: ca, Handler: h}).Serve(ctx, l, 0) }()
	defer func() { stop(); <-served }()
	browser := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: l.Addr().String()}), DisableCompression: true}}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		sent++
		body[0] = sent // no revisit record
		resp, err := browser.Get(site.URL)
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if n != int64(len(body)) || err != nil {
			b.Fatal(n, err)
		}
	}
}
