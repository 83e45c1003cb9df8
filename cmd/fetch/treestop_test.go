//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestTreeInterrupt sends SIGINT to commands that walk a tree or a list of URLs. They
// must stop. An error, or a sum of 0 bytes, for each of the other directories or URLs
// would fill the terminal.
func TestTreeInterrupt(t *testing.T) {
	const files, directories, urls = "files of unknown size", "directories", "URLs"
	for _, test := range []struct {
		command string
		many    string // what is left when the command is interrupted
	}{
		{"du", directories}, {"du --sort size", directories}, {"du", files}, {"find --size +1", files}, {"diff", directories}, {"diff", files},
		{"ls -R", directories}, {"du", urls}, {"find", urls}, {"-Z", urls},
	} {
		t.Run(test.command+", "+test.many, func(t *testing.T) {
			t.Parallel()
			active, stopped := make(chan struct{}, 100), make(chan struct{})
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/" {
					active <- struct{}{}
					<-stopped
					return
				}
				w.Header().Set("Content-Type", "text/html")
				io.WriteString(w, "<title>Index of /</title><h1>Index of /</h1><pre><a href=\"../\">../</a>\n")
				for i := range 50 {
					name := fmt.Sprintf("d%d/", i)
					if test.many == files {
						name = fmt.Sprintf("f%d", i)
					}
					fmt.Fprintf(w, "<a href=%q>%s</a>  01-Jan-2020 10:00  -\n", name, name)
				}
			}))
			defer s.Close()
			defer close(stopped)
			args := append(strings.Fields(test.command), s.URL+"/")
			switch {
			case test.command == "diff":
				args = append(args, s.URL+"/")
			case test.many == urls:
				for i := range 50 {
					args = append(args, fmt.Sprintf("%s/%d/", s.URL, i))
				}
			}
			p := commandtest.Start(t, commandtest.Command(append([]string{"fetch", "--no-config"}, args...)...))
			<-active
			p.Process.Signal(syscall.SIGINT)
			got := p.Wait(t)
			if got.Code != 130 || strings.Count(got.Stderr, "\n") > 2 {
				t.Errorf("exit code %d, standard error of %d lines:\n%.500s", got.Code, strings.Count(got.Stderr, "\n"), got.Stderr)
			}
			if strings.HasPrefix(test.command, "du") && got.Stdout != "" {
				t.Errorf("standard output of %d lines:\n%.500s", strings.Count(got.Stdout, "\n"), got.Stdout)
			}
		})
	}
}

// TestParallelInterruptRecords interrupts parallel downloads. With --error-json, each
// of them has a record.
func TestParallelInterruptRecords(t *testing.T) {
	const downloads = 3
	active, stopped := make(chan struct{}, 100), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		active <- struct{}{}
		<-stopped
	}))
	defer s.Close()
	defer close(stopped)
	args := []string{"fetch", "--no-config", "-Z", "--parallel-max", "3", "--per-host", "3", "--error-json"}
	for i := range downloads {
		args = append(args, fmt.Sprintf("%s/%d", s.URL, i))
	}
	p := commandtest.Start(t, commandtest.Command(args...))
	for range downloads {
		<-active
	}
	p.Process.Signal(syscall.SIGINT)
	got := p.Wait(t)
	for i := range downloads {
		url := fmt.Sprintf("%q:\"%s/%d\"", "url", s.URL, i)
		if got.Code != 130 || strings.Count(got.Stderr, url) != 1 {
			t.Errorf("exit code %d, records without %s:\n%s", got.Code, url, got.Stderr)
		}
	}
}
