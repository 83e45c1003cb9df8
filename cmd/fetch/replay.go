package main

import (
	"io"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/warc"
)

// isWARC reports whether what was typed for a URL is the name of a WARC file,
// finished or not.
func isWARC(text string) bool {
	if !warc.Is(text) {
		return false
	}
	info, err := os.Stat(text)
	return err == nil && info.Mode().IsRegular()
}

// listWARC writes what a WARC file holds.
func (j *job) listWARC(write func(io.Writer, fetch.Entry) error) error {
	f, err := os.Open(j.text)
	if err != nil {
		return fetch.Local.With(err)
	}
	defer f.Close()
	return j.entries(warc.Entries(f), write)
}

// replayed has the schemes answer from the WARC files of --archive, and never
// ask the network.
func (a *app) replayed(all []fetch.Scheme) ([]fetch.Scheme, error) {
	if len(a.flags.archive) == 0 {
		return all, nil
	}
	archive, err := warc.Open(a.flags.archive...)
	if err != nil {
		return nil, err
	}
	a.archive = archive
	for _, damage := range archive.Damaged {
		a.note("%v", damage)
	}
	return archive.Schemes(all...), nil
}
