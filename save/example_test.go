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
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// download brings url into the file at path, from where an earlier attempt
// broke off.
func download(ctx context.Context, client *fetch.Client, url, path string) error {
	u, err := fetch.ParseURL(url)
	if err != nil {
		return err
	}
	f, err := save.Create(path, save.Options{Resume: true, URL: url})
	if err != nil {
		return err
	}
	defer f.Close() // without Commit nothing appears, and what there is stays for the next attempt
	have := f.State()
	req := &fetch.Request{URL: u, IfSame: have.Validator}
	req.Range.First = have.Rest()
	resp, err := client.Do(ctx, req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := f.Begin(save.State{Validator: resp.Validator, Offset: resp.Offset, Size: resp.Size}); err != nil {
		return err // fetch.Mismatch: another version; the next attempt is for the whole
	}
	if _, err := io.Copy(f, resp.Body); err != nil {
		return err
	}
	f.SetTime(resp.Time)
	return f.Commit()
}

// A body that is cut off leaves no file; the next attempt asks for the rest.
func Example_resume() {
	text := strings.Repeat("0123456789", 10)
	cut := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Printf("asked for %q\n", r.Header.Get("Range"))
		w.Header().Set("ETag", `"v1"`)
		if !cut {
			http.ServeContent(w, r, "digits.txt", time.Time{}, strings.NewReader(text))
			return
		}
		cut = false
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		io.WriteString(w, text[:40])
	}))
	defer server.Close()
	dir, err := os.MkdirTemp("", "save")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, web.Schemes(web.Options{})...)
	defer client.Close()

	path := filepath.Join(dir, "digits.txt")
	err = download(context.Background(), client, server.URL, path)
	_, missing := os.Stat(path)
	fmt.Println(fetch.FaultOf(err), errors.Is(missing, os.ErrNotExist))
	err = download(context.Background(), client, server.URL, path)
	whole, _ := os.ReadFile(path)
	fmt.Println(err, string(whole) == text)
	// Output:
	// asked for ""
	// truncated true
	// asked for "bytes=40-"
	// <nil> true
}

// The name of the file for a URL, whatever its server chose.
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
