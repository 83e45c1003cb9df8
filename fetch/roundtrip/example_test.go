package roundtrip_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/roundtrip"
	"github.com/anyurl/fetch/schemes"
)

// A program that uses net/http fetches URLs of every scheme.
func ExampleTransport() {
	dir, err := os.MkdirTemp("", "roundtrip")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "motd.txt"), []byte("welcome\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, schemes.All(schemes.Options{})...)
	defer client.Close()
	web := &http.Client{Transport: roundtrip.Transport{Client: client}}

	resp, err := web.Get("file://" + filepath.ToSlash(dir) + "/motd.txt")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	fmt.Printf("%s, %d bytes: %q %v\n", resp.Status, resp.ContentLength, text, err)

	_, err = web.Get("http://127.0.0.1:25/")
	fmt.Println(errors.Is(err, fetch.BadPort))
	// Output:
	// 200 OK, 8 bytes: "welcome\n" <nil>
	// true
}
