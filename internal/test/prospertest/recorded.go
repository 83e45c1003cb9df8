package prospertest

import (
	"embed"
	"path"
	"testing"

	"github.com/anyurl/fetch/internal/test/transcript"
)

//go:embed testdata/*.hex
var recordings embed.FS

// Recorded returns the datagrams of a recorded conversation with the Prospero
// server dirsrv. testdata/README.md lists the conversations.
func Recorded(t testing.TB, file string) []transcript.Message {
	t.Helper()
	return transcript.ReadRecording(t, recordings, "testdata/"+file)
}

// Recordings returns the names of the files that Recorded can read.
func Recordings(t testing.TB) (files []string) {
	t.Helper()
	for _, name := range transcript.Recordings(t, recordings, "testdata") {
		files = append(files, path.Base(name))
	}
	return files
}
