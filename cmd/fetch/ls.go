package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
	"github.com/spf13/cobra"
)

// ls lists a directory, a menu or whatever else has entries.
func (a *app) ls() *cobra.Command {
	var asJSON, native, urls bool
	c := &cobra.Command{
		Use:   "ls URL|FILE.warc.gz...",
		Short: "List a directory, the same way for every scheme",
		Long: `ls lists what has entries: kind, size, time and name of each. A listing that is
asked for again within five minutes is not brought again, but for those of http,
and of a user. The name of a WARC file lists the objects in it.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if asJSON && native {
				return fetch.Usage.Errorf("--json and --native exclude each other")
			}
			if native {
				a.native = true
				return a.gets(args)
			}
			a.flags.news.listing, a.remember = true, true
			write := listText(urls)
			if asJSON {
				write = listJSON
			}
			return a.batch(args, func(j *job) error { return j.list(write) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one line of JSON an entry")
	c.Flags().BoolVar(&native, "native", false, "the server's own listing")
	c.Flags().BoolVar(&urls, "urls", false, "the URL of each entry alone, for --input-file and xargs")
	return bodiless(c, func() bool { return native })
}

// list writes the entries of one URL, or of one WARC file, as they come.
func (j *job) list(write func(io.Writer, fetch.Entry) error) error {
	if isWARC(j.text) {
		return j.listWARC(write)
	}
	req, err := j.request(j.client, j.text)
	if err != nil {
		return err
	}
	req.Op = fetch.Get
	resp, err := j.client.Do(j.ctx, req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return j.entries(resp.Entries(), write)
}

func (j *job) entries(all iter.Seq2[fetch.Entry, error], write func(io.Writer, fetch.Entry) error) error {
	w := bufio.NewWriter(j.stdout)
	for e, err := range all {
		if err == nil {
			err = local(write(w, e))
		}
		if errors.Is(err, errEnough) {
			break
		}
		if err != nil {
			w.Flush()
			return err
		}
	}
	return local(w.Flush())
}

// atMost ends a listing in which n entries have led somewhere, for those who
// find more than they were asked for; 0 is no end.
func atMost(n int, write func(io.Writer, fetch.Entry) error) func(io.Writer, fetch.Entry) error {
	return func(w io.Writer, e fetch.Entry) error {
		err := write(w, e)
		if e.Kind == fetch.Info {
			return err
		}
		if n--; n == 0 && err == nil {
			err = errEnough
		}
		return err
	}
}

var errEnough = errors.New("enough is found")

func listJSON(w io.Writer, e fetch.Entry) error {
	return encode(w, e)
}

// listText writes kind, size, time and name, and behind a TAB what describes
// it; what a server may have put into these is shown escaped.
func listText(urls bool) func(io.Writer, fetch.Entry) error {
	return func(w io.Writer, e fetch.Entry) (err error) {
		if urls {
			if !e.URL.IsZero() {
				_, err = fmt.Fprintln(w, e.URL)
			}
			return err
		}
		size, when := "-", "-"
		if e.Size >= 0 {
			size = strconv.FormatInt(e.Size, 10)
		}
		if !e.Time.IsZero() {
			when = e.Time.UTC().Format(time.RFC3339)
		}
		name := tty.Escape(e.Name)
		if about, _, _ := strings.Cut(e.Extra["description"], "\n"); about != "" {
			name += "\t" + tty.Escape(about)
		}
		_, err = fmt.Fprintf(w, "%-8s %12s %-20s %s\n", e.Kind, size, when, name)
		return err
	}
}
