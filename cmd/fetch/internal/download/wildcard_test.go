package download_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// wildcardFiles returns the names of the files that testWildcards requires. The
// content of each file is its name.
func wildcardFiles() []string {
	return []string{"a.tar.gz", "b.tar.gz", "x y.tar.gz", "é.txt", "100%.txt", "*.txt", "c", "dir.txt/f", ".hid.txt"}
}

// TestWildcard checks wildcards in ftp URLs.
func TestWildcard(t *testing.T) {
	t.Parallel()
	options := map[string]peer.FTPOptions{"vsftpd": {Config: []string{"force_dot_files=YES"}}}
	for name, start := range map[string]func(peer.TB, peer.FTPOptions) *peer.Server{
		"vsftpd": peer.Vsftpd, "proftpd": peer.Proftpd,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, options[name])
			for _, name := range wildcardFiles() {
				s.Put("pub/"+name, []byte(name+"\n"))
			}
			if name == "vsftpd" {
				testWildcards(t, "ftp://"+s.Addr+"/pub/")
			} else if got, want := commandtest.Run(t, 0, "ftp://"+s.Addr+"/pub/x*"), "x y.tar.gz\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			s.PutHome("own.txt", []byte("own\n"))
			login := peer.User + ":" + peer.Password
			for _, args := range [][]string{
				{"ftp://" + login + "@" + s.Addr + "/*.txt"},
				{"-u", login, "ftp://" + s.Addr + "/*.txt"},
			} {
				if got := commandtest.Run(t, 0, args...); got != "own\n" {
					t.Errorf("%q: got %q", args, got)
				}
			}
			commandtest.Run(t, 0, "mirror", "-u", login, "--output-dir", t.TempDir(), "ftp://"+peer.User+"@"+s.Addr+"/own.txt")
		})
	}
}

// TestOneSession checks a server that accepts one session from each address.
// The listing and its entries have different sources, so that they must not
// share a session. The first attempts of each command may fail, because the
// server notices with a delay that the previous connection was closed.
func TestOneSession(t *testing.T) {
	t.Parallel()
	s := peer.Vsftpd(t, peer.FTPOptions{Config: []string{"max_per_ip=1"}})
	for _, name := range []string{"a", "b", "c", "d"} {
		s.Put("pub/"+name, []byte(name+"\n"))
	}
	url, dir := "ftp://"+s.Addr+"/pub/", t.TempDir()
	if got, want := commandtest.Run(t, 0, "-Z", "--retry", "3", url+"*"), "a\nb\nc\nd\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	commandtest.Run(t, 0, "mirror", "--retry", "3", "--output-dir", dir, url)
	if files := commandtest.Archived(t, dir); len(files) != 5 { // the files and the listing
		t.Errorf("got %q", files)
	}
}

// testWildcards checks wildcards in a directory with the files of TestWildcard.
func testWildcards(t *testing.T, base string) {
	for _, c := range []struct {
		pattern string
		exit    int
		want    string // sorted lines
	}{
		{"*.tar.gz", 0, "a.tar.gz b.tar.gz x y.tar.gz"},
		{"*.t*.gz", 0, "a.tar.gz b.tar.gz x y.tar.gz"},
		{"x%20*", 0, "x y.tar.gz"},
		{"x *", 0, "x y.tar.gz"},
		{"*.txt", 0, "*.txt 100%.txt é.txt"},
		{"%2A.txt", 0, "*.txt"},
		{"{a,x}*.gz", 0, "a.tar.gz x y.tar.gz"},
		{".*", 0, ".hid.txt"},
		{"c*", 0, "c"},
		{"*zip", 8, ""},
		{"dir*", 8, ""},
		{"none/*", 8, ""},
		{"*/f", 2, ""},
	} {
		lines := strings.Split(strings.TrimSuffix(commandtest.Run(t, c.exit, "-s", base+c.pattern), "\n"), "\n")
		slices.Sort(lines)
		got := strings.Join(lines, " ")
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.pattern, got, c.want)
		}
	}
	dir := t.TempDir()
	commandtest.Run(t, 0, "-Z", "--output-dir", dir, base+"*.tar.gz", base+"c")
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 4 {
		t.Errorf("got the files %q", files)
	}
	commandtest.Run(t, 2, "-o", filepath.Join(dir, "one"), base+"*.tar.gz")
	commandtest.Run(t, 0, "-o", filepath.Join(dir, "one"), base+"a*.tar.gz")
	commandtest.Contains(t, commandtest.Run(t, 0, "ls", "--urls", base+"*.t*"), "/dir.txt", "x%20y.tar.gz")
	commandtest.Run(t, 8, "ls", base+"*zip")
	commandtest.Run(t, 8, "-g", base+"*.tar.gz")
	commandtest.Contains(t, commandtest.Run(t, 0, "info", base+"a*"), `"size":9`)
}

// TestWildcardFile checks wildcards in file URLs.
func TestWildcardFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range wildcardFiles() {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	testWildcards(t, "file://"+dir+"/")
}

// TestWildcardHostileListing checks that a listing can neither add commands nor
// select files outside the directory.
func TestWildcardHostileListing(t *testing.T) {
	t.Parallel()
	const file = "-rw-r--r-- 1 0 0 5 Jan 1 2000 "
	s := &listingServer{listing: file + "x\rDELE y\r\n" + file + "../x\r\n" + file + "/etc/x\r\n" + file + "x%0d%0aDELE y\r\n" +
		file + "x\x1b[2J\r\n" + file + "x1\r\n"}
	addr := s.start(t)
	dir := t.TempDir()
	out, messages := commandtest.RunStderr(t, 0, "--output-dir", dir, "ftp://"+addr+"/pub/*x*")
	if strings.Contains(out+messages, "\x1b") {
		t.Errorf("a message has a control character: %q", messages)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.commands {
		verb, arg, _ := strings.Cut(line, " ")
		if verb == "DELE" || strings.Contains(arg, "\r") || verb == "RETR" && strings.Contains(arg, "/") {
			t.Errorf("the server received %q", line)
		}
	}
	if !slices.Contains(s.commands, "RETR x1") {
		t.Errorf("got the commands %q", s.commands)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range files {
		if strings.ContainsAny(name, "\r\n\x1b") {
			t.Errorf("the file %q exists", name)
		}
	}
}

// A listingServer is an ftp server that sends the same listing for each
// directory. Each file has the content "file\n".
type listingServer struct {
	listing string

	mu       sync.Mutex
	commands []string
}

// start serves connections until the test ends. It returns the address.
func (s *listingServer) start(t *testing.T) string {
	control, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	data, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { control.Close(); data.Close() })
	go func() {
		for {
			c, err := control.Accept()
			if err != nil {
				return
			}
			go s.serve(c, data)
		}
	}()
	return control.Addr().String()
}

func (s *listingServer) serve(c net.Conn, data net.Listener) {
	defer c.Close()
	fmt.Fprint(c, "220 ready\r\n")
	for lines := bufio.NewScanner(c); lines.Scan(); {
		s.mu.Lock()
		s.commands = append(s.commands, lines.Text())
		s.mu.Unlock()
		verb, _, _ := strings.Cut(lines.Text(), " ")
		switch verb {
		case "EPSV":
			fmt.Fprintf(c, "229 ok (|||%d|)\r\n", data.Addr().(*net.TCPAddr).Port)
		case "LIST", "RETR":
			d, err := data.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, "150 ok\r\n")
			if verb == "LIST" {
				fmt.Fprint(d, s.listing)
			} else {
				fmt.Fprint(d, "file\n")
			}
			d.Close()
			fmt.Fprint(c, "226 ok\r\n")
		case "USER":
			fmt.Fprint(c, "230 ok\r\n")
		case "CWD", "TYPE":
			fmt.Fprint(c, "200 ok\r\n")
		default:
			fmt.Fprint(c, "500 unknown\r\n")
		}
	}
}
