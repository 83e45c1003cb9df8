package app

import (
	"context"
	"io"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
)

// welcome is the text for a command line without arguments.
const welcome = `fetch retrieves what a URL names, over old and new protocols.

  fetch https://example.org/ > page.html         write to standard output
  fetch -O -C - https://example.org/disk.iso     download; run again to resume
  fetch ls ftp://ftp.example.org/pub/            list a directory
  fetch browse gopher://gopher.example.org/      read menus in the terminal
  fetch mirror --warc https://example.org/docs/  copy a site into an archive
  fetch serve                                    open URLs in a browser

fetch --help lists all flags, fetch help all topics, such as getting-started.
`

// greet prints the welcome text. It returns the exit code of a command line
// without a URL, because scripts depend on the code.
func greet(s *console.Streams) int {
	io.WriteString(s.Stderr, welcome)
	return console.ExitCode(context.Background(), fetch.Usage.Errorf("no URL"))
}
