// Command fetch retrieves URLs of many schemes, such as http, ftp and gopher.
// It writes each object to standard output or to a file. A file gets its final
// name only when the download is complete.
package main

import (
	"io"
	"log"
	"os"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/internal/base/chromium"
)

func main() {
	chromium.Child()
	// Package net/http logs some messages of servers to the standard logger.
	// They would appear on standard error, even with -s or --error-json.
	log.SetOutput(io.Discard)
	os.Exit(app.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
