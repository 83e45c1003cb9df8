package ftp_test

import (
	"fmt"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/anyurl/fetch/uri"
)

// A URL is commands: what is encoded stays within one argument.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, ftp.Schemes(ftp.Options{})...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("ftp://myname@host.dom/%2Fetc/motd")})
	if err != nil {
		fmt.Println(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// USER myname
	// PASS ***
	// CWD /etc
	// TYPE I
	// EPSV (else PASV)
	// RETR motd
}
