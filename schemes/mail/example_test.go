package mail_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/mail"
	"github.com/anyurl/fetch/uri"
)

// This example writes a message to standard output. It does not mark the
// message as read.
func Example() {
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, mail.Schemes(mail.Options{})...)
	defer client.Close()
	resp, err := client.Get(context.Background(), "imap://alice:s3cret@mail.example.org/INBOX/;UID=7")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(os.Stdout, resp.Body); err != nil {
		log.Fatal(err)
	}
}

// This example prints the commands for a part of a message. It does not use the
// network.
func Example_plan() {
	client := fetch.New(fetch.Options{}, mail.Schemes(mail.Options{})...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("imap://alice@mail.example.org/INBOX/;UID=7/;SECTION=2")})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range steps {
		fmt.Println(s)
	}
	// Output:
	// CAPABILITY
	// STARTTLS
	// AUTHENTICATE *** (else LOGIN)
	// EXAMINE INBOX
	// UID FETCH 7 BODY.PEEK[2.MIME]
	// UID FETCH 7 BODY.PEEK[2]
}

// This example reads a picture of a message in a Maildir.
func ExampleOptions_stores() {
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, mail.Schemes(mail.Options{Stores: []string{"Mail"}})...)
	defer client.Close()
	resp, err := client.Get(context.Background(), "mid:960830.1639@example.org/picture.1@example.org")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Println(resp.Media)
}
