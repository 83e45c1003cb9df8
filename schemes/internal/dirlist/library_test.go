package dirlist_test

import (
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	library "github.com/jlaffaye/ftp"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/dirlist"
	"github.com/anyurl/fetch/uri"
)

// FuzzLibraryFacts compares an entry of MLSD with the one that
// github.com/jlaffaye/ftp finds. That library accepts only the usual spelling of
// types. It accepts numbers in the notation of Go, and fractions after a comma.
func FuzzLibraryFacts(f *testing.F) {
	list := listLibrary(f, " MLST type*;size*;modify*;\r\n")
	f.Add("type=file;size=12;modify=20240229235959; a b.txt")
	f.Add("modify=20240229235959.123;Type=dir;UNIX.mode=0755; pub")
	f.Add("type=cdir; .")
	f.Add("5type=file;size=1; a")
	f.Add("type=OS.unix=slink:/x;size=3; a; b")
	f.Fuzz(func(t *testing.T, text string) {
		facts, name, _ := strings.Cut(text, " ")
		lower := strings.ToLower(facts)
		if strings.ContainsAny(text, "\r\n") || strings.Contains(facts, ",") || !utf8.ValidString(text) || !strings.HasSuffix(facts, ";") || name == "" {
			return
		}
		if strings.Count(lower, "type=") > 1 || strings.Count(lower, "size=") > 1 || strings.Count(lower, "modify=") > 1 {
			return
		}
		want := list(t, text)
		if want == nil {
			return
		}
		got, ok := dirlist.ParseFacts(text)
		if !ok || got.Name != want.Name || !got.Time.Equal(want.Time.Truncate(time.Second)) {
			t.Errorf("%q: %+v, %v; the library finds %+v", text, got, ok, want)
		}
		if want.Type == library.EntryTypeFolder && got.Kind != fetch.Menu && got.Kind != fetch.Info || strings.Contains(";"+lower, ";type=file;") && got.Kind != fetch.Document {
			t.Errorf("%q: kind %v, the library finds %v", text, got.Kind, want.Type)
		}
		if digits := fmt.Sprint(want.Size); strings.Contains(lower, ";size="+digits+";") && want.Size < 1<<62 && got.Size != int64(want.Size) && got.Extra["type"] != "symlink" {
			t.Errorf("%q: %d bytes, the library finds %d", text, got.Size, want.Size)
		}
	})
}

// FuzzLibraryList compares an entry of LIST with the one that
// github.com/jlaffaye/ftp finds, in the formats of Unix and of DOS.
func FuzzLibraryList(f *testing.F) {
	list := listLibrary(f, " UTF8\r\n")
	f.Add(uint8(0), "ftp", uint32(4096), uint16(59), false, "a b.txt")
	f.Add(uint8(1), "user-1", uint32(0), uint16(1439), true, " pub")
	f.Add(uint8(2), "x", uint32(6), uint16(0), true, "link -> target")
	f.Add(uint8(3), "x", uint32(1<<31), uint16(720), false, "readme.htm")
	f.Add(uint8(4), "x", uint32(7), uint16(0), false, "Program Files")
	base := uri.MustParse("ftp://h.example/")
	f.Fuzz(func(t *testing.T, form uint8, owner string, size uint32, when uint16, withYear bool, name string) {
		if !utf8.ValidString(name) || strings.ContainsAny(name, "\r\n") || strings.Trim(name, ". ") == "" || len(strings.Fields(name)) == 0 {
			return
		}
		if form%5 >= 3 && name[0] == ' ' || withYear && strings.Contains(strings.Fields(name)[0], ":") {
			return // the name is ambiguous
		}
		if before, _, _ := strings.Cut(name, " -> "); strings.Count(name, "-> ") > 1 || strings.Trim(before, ". ") == "" {
			return
		}
		if strings.Trim(owner, "abcdefghijklmnopqrstuvwxyz-_0123456789") != "" || owner == "" {
			return
		}
		at := time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(when) * 7 * time.Hour)
		line := listLine(form, "u"+owner, size, at, withYear, name)
		want := list(t, line)
		if want == nil {
			return
		}
		media := dirlist.MediaType(dirlist.Params{Dialect: dirlist.List, At: time.Now()})
		for got, err := range dirlist.Menu(base, media, strings.NewReader(line+"\n")) {
			if err != nil {
				t.Fatal(err)
			}
			compareEntries(t, line, got, want)
			return
		}
		t.Errorf("%q: no entry, the library finds %+v", line, want)
	})
}

// listLine returns a line of LIST.
func listLine(form uint8, owner string, size uint32, at time.Time, withYear bool, name string) string {
	switch form % 5 {
	case 3:
		return fmt.Sprintf("%s %20d %s", at.Format("01-02-06  03:04PM"), size, name)
	case 4:
		return fmt.Sprintf("%s       <DIR>          %s", at.Format("2006-01-02  15:04"), name)
	}
	date := at.Format("Jan _2 15:04")
	if withYear {
		date = at.Format("Jan _2  2006")
	}
	return fmt.Sprintf("%crw-r-xr-- 1 %s %s %d %s %s", "-dl"[form%5], owner, owner, size, date, name)
}

// compareEntries compares an entry of LIST with an entry of the library.
func compareEntries(t *testing.T, line string, got fetch.Entry, want *library.Entry) {
	t.Helper()
	if got.Name != want.Name || got.Extra["target"] != want.Target {
		t.Errorf("%q: %q and target %q; the library finds %q and %q", line, got.Name, got.Extra["target"], want.Name, want.Target)
	}
	if format := "01-02 15:04"; got.Time.Format(format) != want.Time.Format(format) {
		t.Errorf("%q: %v, the library finds %v", line, got.Time, want.Time)
	}
	kind := map[library.EntryType]fetch.Kind{library.EntryTypeFile: fetch.Document, library.EntryTypeFolder: fetch.Menu, library.EntryTypeLink: fetch.Unknown}[want.Type]
	if got.URL.IsZero() {
		kind = fetch.Info // the name could lead outside the directory
	}
	if got.Kind != kind {
		t.Errorf("%q: kind %v, the library finds %v", line, got.Kind, want.Type)
	}
	if want.Type == library.EntryTypeFile && got.Size != int64(want.Size) {
		t.Errorf("%q: %d bytes, the library finds %d", line, got.Size, want.Size)
	}
}

// listLibrary connects the library to a server with the given features. The
// result returns the entry that the library finds in a line, or nil.
func listLibrary(f *testing.F, features string) func(t *testing.T, line string) *library.Entry {
	f.Helper()
	s := &listServer{features: features, data: make(chan net.Conn, 1)}
	c, err := library.Dial("192.0.2.1:21", library.DialWithDialFunc(s.dial))
	if err == nil {
		err = c.Login("anonymous", "")
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { c.Quit() })
	return func(t *testing.T, line string) *library.Entry {
		t.Helper()
		s.line = line
		entries, err := c.List("")
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == 0 {
			return nil
		}
		return entries[0]
	}
}

// A listServer is an FTP server without a network. Its directory has one line.
type listServer struct {
	features  string
	line      string
	data      chan net.Conn
	connected bool
}

// A tcpPipe is a pipe with the address that the library expects.
type tcpPipe struct{ net.Conn }

func (tcpPipe) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 21} }

// dial returns the control connection, and later data connections.
func (s *listServer) dial(string, string) (net.Conn, error) {
	client, server := net.Pipe()
	if !s.connected {
		s.connected = true
		go s.serve(textproto.NewConn(server))
	} else {
		s.data <- server
	}
	return tcpPipe{client}, nil
}

// serve answers commands until the connection ends.
func (s *listServer) serve(c *textproto.Conn) {
	defer c.Close()
	answer := "220 ready"
	for c.PrintfLine("%s", answer) == nil {
		line, err := c.ReadLine()
		if err != nil {
			return
		}
		switch command, _, _ := strings.Cut(line, " "); command {
		case "FEAT":
			answer = "211-features\r\n" + s.features + "211 end"
		case "EPSV":
			answer = "229 ok (|||1024|)"
		case "MLSD", "LIST":
			if c.PrintfLine("150 data follow") != nil {
				return
			}
			data := <-s.data
			io.WriteString(data, s.line+"\r\n")
			data.Close()
			answer = "226 done"
		case "QUIT":
			answer = "221 bye"
		case "USER":
			answer = "230 logged in"
		default:
			answer = "200 ok"
		}
	}
}
