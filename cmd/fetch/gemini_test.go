package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestGemini retrieves, lists, searches and mirrors the documents of a Gemini
// server.
func TestGemini(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	s := peer.MollyBrown(t, peer.MollyBrownOptions{})
	s.Put("index.gmi", []byte("# Home\n=> sub/ A folder\n=> notes.txt\n"))
	s.Put("notes.txt", []byte("eins\n"))
	s.Put("sub/index.gmi", []byte("=> deep.gmi\n"))
	s.Put("sub/deep.gmi", []byte("## Deep\n"))
	search := s.Put("cgi-bin/find", []byte("#!/bin/sh\n[ -z \"$QUERY_STRING\" ] && printf '10 Words?\\r\\n' && exit\n"+
		"printf '20 text/gemini\\r\\n=> /notes.txt found %s\\n' \"$QUERY_STRING\"\n"))
	if err := os.Chmod(search, 0o755); err != nil {
		t.Fatal(err)
	}
	root := "gemini://" + s.Addr
	contains(t, runFetch(t, 0, root+"/notes.txt"), "eins\n")
	contains(t, runFetch(t, 0, "ls", "--urls", root+"/"), root+"/sub/\n"+root+"/notes.txt\n")
	contains(t, runFetch(t, 0, "info", root+"/notes.txt"), `"media":"text/plain`, `"code":20`)
	contains(t, runFetch(t, 0, "plan", "gemini://h"), "send gemini://h/\n")
	contains(t, runFetch(t, 0, "search", root+"/cgi-bin/find", "a", "b"), "found a%20b")
	contains(t, commandtest.MirrorOne(t, root+"/"), "## Deep\n", "WARC-Target-URI: "+root+"/sub/deep.gmi", "sent: "+root+"/notes.txt", "received: 20 text/plain")
	dir := t.TempDir()
	runFetch(t, 0, "mirror", "--warc", "--output-dir", dir, root+"/")
	contains(t, runFetch(t, 0, "ls", "--urls", "--archive", dir, root+"/"), root+"/sub/\n"+root+"/notes.txt\n")
	runFetch(t, 2, root+"/cgi-bin/find")
	runFetch(t, 8, root+"/nosuch")

	file := filepath.Join(state, "fetch", "gemini_hosts")
	if err := os.WriteFile(file, []byte(s.Addr+" sha256//AAAA 2000-01-01\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runFetch(t, 5, root+"/notes.txt")
	runFetch(t, 0, "-k", root+"/notes.txt")
}
