package fetch_test

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

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

// site is a server on this machine, which Typed allows and Public denies.
func site() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "hello.txt", modified, hello())
	}))
}

// copyTo writes the object of url to w.
func copyTo(ctx context.Context, client *fetch.Client, w io.Writer, url string) error {
	resp, err := client.Get(ctx, url)
	if err != nil {
		return err // errors.Is(err, fetch.NotFound), fetch.Timeout, fetch.BadAddress ...
	}
	defer resp.Body.Close()
	_, err = io.Copy(w, resp.Body) // nil only if the body is complete
	return err
}

func Example() {
	server := site()
	defer server.Close()

	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, schemes.All(schemes.Options{})...)
	defer client.Close()
	err := copyTo(context.Background(), client, os.Stdout, server.URL)
	fmt.Println(err)
	// Output:
	// hello, world
	// <nil>
}

// The class of an error does not depend on the protocol.
func ExampleFault() {
	server := site()
	defer server.Close()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, schemes.All(schemes.Options{})...)
	defer client.Close()

	for _, url := range []string{server.URL + "/missing", "http://localhost:25/", "urn:isbn:0451450523", "no url"} {
		_, err := client.Get(context.Background(), url)
		var refusal *fetch.Refusal
		var e *fetch.Error
		switch {
		case errors.Is(err, fetch.NotFound) && errors.As(err, &e):
			fmt.Println("not there, says the server:", e.Code)
		case errors.As(err, &refusal):
			fmt.Println("refused:", refusal.Rule)
		case fetch.Retryable(err):
			fmt.Println("try again")
		default:
			fmt.Println(fetch.FaultOf(err))
		}
	}
	// Output:
	// not there, says the server: 404
	// refused: port of a service that browsers block
	// unsupported
	// invalid-uri
}

// This example retrieves the missing end of an object. IfSame ensures that both
// parts have the same version. Package save does this for files.
func ExampleClient_Do() {
	server := site()
	defer server.Close()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, schemes.All(schemes.Options{})...)
	defer client.Close()
	bring := func(req *fetch.Request, max int64) (string, *fetch.Response) {
		resp, err := client.Do(context.Background(), req)
		if err != nil {
			log.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(io.LimitReader(resp.Body, max))
		if err != nil {
			log.Fatal(err)
		}
		return string(body), resp
	}

	req := &fetch.Request{URL: uri.MustParse(server.URL + "/")}
	part, resp := bring(req, 5) // the connection is lost after 5 bytes
	req.Range.First, req.IfSame = int64(len(part)), resp.Validator
	rest, resp := bring(req, 100)
	if resp.Offset == 0 {
		part = "" // the object has changed, and the response has all of it
	}
	fmt.Printf("%q of %d bytes, %q behind %d\n", part, resp.Size, rest, resp.Offset)
	// Output: "hello" of 13 bytes, ", world\n" behind 5
}

// A server supplied a link that a page contains. From names the page, so that
// the Policy does not let a public page lead to this machine.
func ExampleSource() {
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, schemes.All(schemes.Options{})...)
	defer client.Close()
	page := uri.MustParse("http://www.example.org/")
	link := uri.MustParse("http://127.0.0.1:8080/admin")
	_, err := client.Do(context.Background(), &fetch.Request{URL: link, From: &fetch.Source{URL: page}})
	fmt.Println(fetch.FaultOf(err))
	// Output: policy-address
}

// A directory, a menu, a newsgroup and the result of a search are all read as
// entries.
func ExampleResponse_Entries() {
	dir, err := os.MkdirTemp("", "entries")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "motd"), []byte("welcome\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, schemes.All(schemes.Options{})...)
	defer client.Close()
	resp, err := client.Get(context.Background(), "file://"+filepath.ToSlash(dir)+"/")
	if err != nil {
		log.Fatal(err)
	}
	for entry, err := range resp.Entries() { // closes the Body
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(entry.Name, entry.Kind, entry.Size)
	}
	// Output: motd document 8
}

// This example reads a listing and fetches its entries with the permissions of
// the listing. A file in a local directory may lead to other files.
func ExampleClient_List() {
	dir, err := os.MkdirTemp("", "list")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "motd"), []byte("welcome\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, schemes.All(schemes.Options{})...)
	defer client.Close()
	for entry, err := range client.List(ctx, "file://"+filepath.ToSlash(dir)+"/") {
		if err != nil {
			log.Fatal(err)
		}
		resp, err := client.Do(ctx, entry.Request())
		if err != nil {
			log.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		fmt.Printf("%s: %q %v\n", entry.Name, text, err)
	}
	// Output: motd: "welcome\n" <nil>
}
