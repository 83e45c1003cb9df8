package main

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/prospertest"
	"github.com/anyurl/fetch/internal/wire/prospero/ardp"
)

// TestProspero fetches objects from a Prospero server and lists, searches and
// describes them.
func TestProspero(t *testing.T) {
	f := peer.Vsftpd(t, peer.FTPOptions{})
	f.Put("pub/a.txt", []byte("from its site\n"))

	s := prospertest.NewServer("LOCALHOST")
	s.Add(prospertest.Object{Name: "docs", Target: "DIRECTORY", Hidden: true})
	s.Add(prospertest.Object{Name: "docs/it's here.txt", Target: "FILE", Contents: []byte("it's\nhere\n"),
		Attributes: []string{"INTRINSIC SIZE SEQUENCE 10' bytes'", "INTRINSIC LAST-MODIFIED SEQUENCE 19930601120000Z"}})
	s.Add(prospertest.Object{Name: "docs/a.txt", Target: "EXTERNAL", Host: "F.EXAMPLE", Path: "/pub/a.txt",
		Attributes: []string{"FIELD ACCESS-METHOD SEQUENCE AFTP '' '' '' '' BINARY"}})
	s.Add(prospertest.Object{Name: "docs/b.txt", Target: "EXTERNAL", Host: "F.EXAMPLE(2121)", Path: "/pub/b.txt",
		Attributes: []string{"FIELD ACCESS-METHOD SEQUENCE AFTP '' '' '' '' BINARY"}})
	const hits = "ARCHIE/MATCH(95,0,S)/a.t"
	s.Add(prospertest.Object{Name: hits, Target: "DIRECTORY", Hidden: true})
	s.Add(prospertest.Object{Name: hits + "/a.txt", Target: "EXTERNAL", Host: "F.EXAMPLE", Path: "/pub/a.txt"})
	l := faultnet.ListenPackets(t, faultnet.Packets{Answer: s.Answer})
	addr := l.Addr().String()
	url := "prospero://" + addr + "/"
	allow := []string{"--allow-port", "prospero:" + addr[strings.LastIndexByte(addr, ':')+1:],
		"--connect-to", "f.example:21:" + f.Addr}
	fetchIt := func(code int, args ...string) string { return runFetch(t, code, append(allow, args...)...) }

	if got := fetchIt(0, url+"docs/it's%20here.txt"); got != "it's\nhere\n" {
		t.Errorf("got %q", got)
	}
	contains(t, fetchIt(0, "ls", url+"docs"), "document           10 1993-06-01T12:00:00Z it's here.txt", "a.txt")
	contains(t, fetchIt(0, "ls", "--json", url+"docs"), `"url":"ftp://f.example/pub/a.txt;type=i"`,
		`"target":"EXTERNAL"`)
	contains(t, fetchIt(0, "info", url+"docs/it's%20here.txt"), `"kind":"document"`, `"size":10`,
		"1993-06-01T12:00:00Z")
	contains(t, fetchIt(0, "search", url, "a.t"), "a.txt")
	if got := fetchIt(0, "search", "--urls", url, "a.t"); got != "ftp://f.example/pub/a.txt\n" {
		t.Errorf("search: got %q", got)
	}
	for how, want := range map[string]string{"exact": "MATCH(3,0,=)", "case": "MATCH(3,0,C)", "regexp": "MATCH(3,0,R)",
		"part": "MATCH(3,0,S)"} {
		got := runFetch(t, 0, "search", "--url", "--max", "3", "--match", how, "prospero://h/", "a b")
		if got != "prospero://h/ARCHIE/"+want+"/a%20b\n" {
			t.Errorf("--match %s: %q", how, got)
		}
	}

	// A link to another protocol is followed only on the default port of that
	// protocol.
	if got := fetchIt(0, url+"docs/a.txt"); got != "from its site\n" {
		t.Errorf("link to ftp: got %q", got)
	}
	fetchIt(9, url+"docs/b.txt")
	fetchIt(0, "--no-location", url+"docs/b.txt")

	fetchIt(8, url+"docs/none")
	fetchIt(2, url+"docs/a%0Ab")
	runFetch(t, 9, url+"docs")                          // a port that no flag allows
	runFetch(t, 2, "search", "--match", "so", url, "a") // unknown kind of match
	fetchIt(12, "search", url+"docs", "a")
	fetchIt(12, "--socks5", "127.0.0.1:9", url+"docs") // a proxy cannot forward datagrams
	for _, b := range l.Requests() {
		if p, err := ardp.Parse(b); err != nil || !strings.HasPrefix(string(p.Data), "VERSION 5 fetch\n") {
			t.Errorf("fetch sent %q, %v", b, err)
		}
	}
	contains(t, runFetch(t, 0, "plan", "prospero://h/docs"),
		"DIRECTORY ASCII docs\nLIST ATTRIBUTES COMPONENTS (else GET-OBJECT-INFO)\n")
}

// TestMirrorProspero mirrors a directory of a recorded Prospero server. The
// files of the directory are on the ftp server of the same host, which belongs
// to the default scope. Links to other hosts are excluded.
func TestMirrorProspero(t *testing.T) {
	f := peer.Vsftpd(t, peer.FTPOptions{})
	files := map[string]string{"pub/hello.txt": "anonymous ftp file\n", "pub/link.txt": "anonymous ftp file\n",
		"pub/alpha.txt": "alpha\n", "pub/odd names/it's a file.txt": "x\n"}
	for name, text := range files {
		f.Put(name, []byte(text))
	}
	l := faultnet.ListenPackets(t, faultnet.Packets{Answer: prospertest.Dirsrv(t).Answer})
	dir := t.TempDir()
	mirror := func(args ...string) string {
		t.Helper()
		_, stderr := runFetchStderr(t, 0, append([]string{"mirror", "--delay", "0", "--output-dir", dir,
			"--allow-port", "prospero:15250:any", "--exclude", "/(many|papers)$",
			"--connect-to", "p.example:15250:" + l.Addr().String(), "--connect-to", "p.example:21:" + f.Addr,
			"prospero://p.example:15250/AFTP/pub"}, args...)...)
		return stderr
	}
	contains(t, mirror("--exclude", "alpha.txt;type"), ": 8 new", ", 1 excluded")
	got := commandtest.Archived(t, dir)
	for name, text := range files {
		found := 0
		for path, body := range got {
			if strings.HasSuffix(path, "/ftp/p.example/"+name) && body == text {
				found++
			}
		}
		if want := map[bool]int{true: 0, false: 1}[name == "pub/alpha.txt"]; found != want {
			t.Errorf("%d copies of %s, want %d", found, name, want)
		}
	}
	if n := commandtest.States(t, dir, 1); n["excluded"] != 1 {
		t.Errorf("states %v, want 1 excluded", n)
	}
	if stderr := mirror("--exclude", "alpha.txt;type"); !strings.Contains(stderr, ", 1 excluded") ||
		!strings.Contains(stderr, ": 0 new") {
		t.Errorf("second run: %s", stderr)
	}
	runFetch(t, 0, "verify", dir)
}
