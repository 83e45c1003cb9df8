package save_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
)

// download saves the object of a URL that the user entered.
func download(ctx context.Context, url, path string) error {
	client := schemes.NewClient(fetch.Typed())
	defer client.Close()
	_, err := save.Get(ctx, client, url, path)
	return err
}

// This example downloads a file. The Client retries failed requests, and the
// file is resumed after an interruption in this call or an earlier one.
func ExampleGet() {
	server := newFlakyServer()
	defer server.Close()
	dir, err := os.MkdirTemp("", "save")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	path := filepath.Join(dir, "digits.txt")
	err = download(context.Background(), server.URL, path)
	text, _ := os.ReadFile(path)
	fmt.Println(err, string(text) == digits)
	// Output:
	// request for ""
	// request for "bytes=40-"
	// <nil> true
}

// This example prints the progress of a download.
func ExampleWatch() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, digits)
	}))
	defer server.Close()
	dir, err := os.MkdirTemp("", "save")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	client := schemes.NewClient(fetch.Typed())
	defer client.Close()

	path := filepath.Join(dir, "digits.txt")
	for p, err := range save.Watch(context.Background(), client, server.URL, path) {
		if err != nil {
			log.Fatal(err)
		}
		if p.Result == nil { // a longer download reports its progress ten times per second
			fmt.Println(p.Bytes, "of", p.Size, "bytes")
			continue
		}
		fmt.Println("saved", filepath.Base(p.Result.Path))
	}
	// Output:
	// 0 of 100 bytes
	// saved digits.txt
}

// An interrupted body leaves no file. The next call requests the missing part.
func ExampleFetch() {
	server := newFlakyServer()
	defer server.Close()
	dir, err := os.MkdirTemp("", "save")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, schemes.All(schemes.Options{})...)
	defer client.Close()

	path := filepath.Join(dir, "digits.txt")
	req := &fetch.Request{URL: uri.MustParse(server.URL)}
	options := save.Options{Resume: true, Retry: wrap.RetryOptions{Attempts: 1}}
	_, err = save.Fetch(context.Background(), client, req, path, options)
	_, missing := os.Stat(path)
	fmt.Println(fetch.FaultOf(err), errors.Is(missing, os.ErrNotExist))
	result, err := save.Fetch(context.Background(), client, req, path, options)
	text, _ := os.ReadFile(path)
	fmt.Println(result.Resumed, err, string(text) == digits)
	// Output:
	// request for ""
	// truncated true
	// request for "bytes=40-"
	// 40 <nil> true
}

var digits = strings.Repeat("0123456789", 10)

// newFlakyServer starts a server of digits. It interrupts one response after 40
// bytes.
func newFlakyServer() *httptest.Server {
	cut := true
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Printf("request for %q\n", r.Header.Get("Range"))
		w.Header().Set("ETag", `"v1"`)
		if !cut {
			http.ServeContent(w, r, "digits.txt", time.Time{}, strings.NewReader(digits))
			return
		}
		cut = false
		w.Header().Set("Content-Length", fmt.Sprint(len(digits)))
		io.WriteString(w, digits[:40])
	}))
}

// This example derives safe file names from URLs.
func ExampleName() {
	for _, url := range []string{"http://h/pub/disk.iso", "http://h/a/..%2F..%2Fetc%2Fpasswd", "ftp://h/-rf", "http://h/"} {
		name, err := save.Name(uri.MustParse(url).Path())
		fmt.Printf("%q %v\n", name, err)
	}
	// Output:
	// "disk.iso" <nil>
	// "%2E.%2F..%2Fetc%2Fpasswd" <nil>
	// "%2Drf" <nil>
	// "" the URL names no file: choose a name
}
