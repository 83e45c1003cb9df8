package negotiate_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/negotiate"
)

// A Client with this Authenticator authenticates with Kerberos. New sends
// nothing.
func ExampleNew() {
	dir, err := os.MkdirTemp("", "negotiate")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	config := filepath.Join(dir, "krb5.conf")
	text := "[libdefaults]\n default_realm = EXAMPLE.ORG\n[realms]\n EXAMPLE.ORG = {\n  kdc = kdc.example.org\n }\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	a, err := negotiate.New(negotiate.Options{Config: config})
	if err != nil {
		log.Fatal(err)
	}
	client := fetch.New(fetch.Options{}, http.Schemes(http.Options{Auth: http.Negotiate, Negotiator: a})...)
	defer client.Close()
	fmt.Println(a.Servers())
	// Output: [kdc.example.org:88]
}
