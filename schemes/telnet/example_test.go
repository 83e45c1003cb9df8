package telnet_test

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/telnet"
)

// This example connects standard input and output to a telnet server.
func Example() {
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, telnet.Schemes(telnet.Options{})...)
	defer client.Close()
	resp, err := client.Get(context.Background(), "telnet://bbs.example.org/")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	go io.Copy(resp.Input, os.Stdin) // runs until the program exits
	if _, err := io.Copy(os.Stdout, resp.Body); err != nil {
		log.Fatal(err)
	}
}

// This example prints the first screen of a mainframe.
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
