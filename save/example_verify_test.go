package save_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/verify"
	"github.com/anyurl/fetch/verify/signature"
	"github.com/anyurl/fetch/wrap"
)

// downloadSigned saves a file that one of the keys has signed.
func downloadSigned(ctx context.Context, client *fetch.Client, req *fetch.Request, path string, keyFile, sig []byte) error {
	var keys signature.Keyring
	if err := keys.Add(keyFile, "the keyring"); err != nil {
		return err
	}
	check, err := keys.Check(sig, "the signature")
	if err != nil {
		return err
	}
	_, err = save.Fetch(ctx, client, req, path, save.Options{Verify: []verify.Check{check}})
	return err
}

// This example compares a file with a digest. The file of a wrong object does
// not appear.
func ExampleOptions_verify() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(r.URL.Path)) }))
	defer server.Close()
	dir, err := os.MkdirTemp("", "save")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	client := fetch.New(fetch.Options{Policy: fetch.Typed(), Wrap: wrap.Standard(wrap.Options{})}, schemes.All(schemes.Options{})...)
	defer client.Close()

	d, err := verify.ParseDigest(fmt.Sprintf("sha256=%x", sha256.Sum256([]byte("/right"))))
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"right", "wrong"} {
		u, err := fetch.ParseURL(server.URL + "/" + name)
		if err != nil {
			log.Fatal(err)
		}
		path := filepath.Join(dir, name)
		_, err = save.Fetch(context.Background(), client, &fetch.Request{URL: u}, path, save.Options{Verify: []verify.Check{d.Check("the list")}})
		text, missing := os.ReadFile(path)
		fmt.Println(name, errors.Is(err, fetch.Mismatch), bytes.Equal(text, []byte("/right")), errors.Is(missing, os.ErrNotExist))
	}
	// Output:
	// right false true false
	// wrong true false true
}
