package telnet_test

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/telnet"
)

// Standard input and output are joined to a service.
func Example() {
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, telnet.Schemes(telnet.Options{})...)
	defer client.Close()
	resp, err := client.Get(context.Background(), "telnet://bbs.example.org/")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	go io.Copy(resp.Input, os.Stdin) // ends with the program
	if _, err := io.Copy(os.Stdout, resp.Body); err != nil {
		log.Fatal(err)
	}
}

// What a mainframe shows first.
func Example_screen() {
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, telnet.Schemes(telnet.Options{})...)
	defer client.Close()
	resp, err := client.Get(context.Background(), "tn3270://host.example.org/")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(os.Stdout, resp.Body); err != nil {
		log.Fatal(err)
	}
}
