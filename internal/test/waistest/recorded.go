package waistest

import (
	"embed"
	"path"
	"testing"

	"github.com/anyurl/fetch/internal/test/transcript"
)

//go:embed testdata/*.hex
var recordings embed.FS

// An Exchange is a recorded request to freeWAIS-sf and its response. Both are
// complete messages. An empty Answer means that the server closed the
// connection.
type Exchange struct {
	Title           string
	Request, Answer []byte
}

// Recorded returns the exchanges of a recorded session with freeWAIS-sf. The
// file testdata/README.md lists the sessions.
func Recorded(t testing.TB, file string) (all []Exchange) {
	t.Helper()
	for _, m := range transcript.ReadRecording(t, recordings, "testdata/"+file) {
		if m.Client {
			all = append(all, Exchange{Title: m.Title, Request: m.Bytes})
		} else {
			all[len(all)-1].Answer = m.Bytes
		}
	}
	return all
}

// Recordings returns the names of the files that Recorded can read.
func Recordings(t testing.TB) (files []string) {
	t.Helper()
	for _, name := range transcript.Recordings(t, recordings, "testdata") {
		files = append(files, path.Base(name))
	}
	return files
}
