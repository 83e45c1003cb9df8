package nntp_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
)

// Plan returns the commands for a URL. With the view Head, the client retrieves
// only the headers of articles.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, nntp.Schemes(nntp.Options{View: nntp.Head})...)
	defer client.Close()
	for _, url := range []string{"news:3x7@example.org", "nntp://news.example.org/comp.lang.c/7", "news:comp.*"} {
		steps, err := client.Plan(&fetch.Request{URL: uri.MustParse(url)})
		if err != nil {
			fmt.Println(err)
		}
		for _, step := range steps[1:] { // after CAPABILITIES
			fmt.Println(step)
		}
	}
	// Output:
	// HEAD <3x7@example.org>
	// GROUP comp.lang.c
	// HEAD 7
	// LIST ACTIVE comp.* (else LIST)
}

// The body for a range of articles is a batch of messages.
func ExampleMessages() {
	body := strings.NewReader("#! rnews 14\nSubject: a\r\n\r\n#! rnews 14\nSubject: b\r\n\r\n")
	for message, err := range nntp.Messages("application/x-rnews", body) {
		if err != nil {
			fmt.Println(err)
			return
		}
		text, _ := io.ReadAll(message)
		fmt.Printf("%q\n", text)
	}
	// Output:
	// "Subject: a\r\n\r\n"
	// "Subject: b\r\n\r\n"
}
