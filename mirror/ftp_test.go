package mirror_test

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/warc"
)

// oldFTP is a server with one folder, /pub/, with listings in the format of
// DOS. Its passive replies name another host.
type oldFTP struct {
	list  string // listing of the folder
	files map[string]string
	times map[string]string // MDTM replies by file name
	asked map[string]int    // number of requests by file name
	open  string            // preliminary reply; 150 if it is empty
	at    string
	data  chan string
}

func (f *oldFTP) serve(w *network, host string) {
	f.at, f.data, f.asked = w.name(host).String(), make(chan string, 1), map[string]int{}
	w.net.Serve(f.at+":21", faultnet.Script{faultnet.Do("ftp", f.control)})
	w.net.Serve(f.at+":40000", faultnet.Script{faultnet.Do("data", func(c *faultnet.Conn) error {
		_, err := c.Write([]byte(<-f.data))
		return err
	})})
}

func (f *oldFTP) control(c *faultnet.Conn) error {
	reply := "220 old\r\n"
	for {
		if _, err := c.Write([]byte(reply)); err != nil {
			return err
		}
		line, err := c.ReadLine()
		if err != nil {
			return nil
		}
		verb, arg, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		reply = f.answer(c, strings.ToUpper(verb), path.Base(arg))
	}
}

func (f *oldFTP) answer(c *faultnet.Conn, verb, name string) string {
	body, there := f.files[name]
	switch {
	case verb == "USER":
		return "331 password\r\n"
	case verb == "PASS":
		return "230 in\r\n"
	case verb == "TYPE", verb == "CWD" && (name == "pub" || name == "/"):
		return "200 fine\r\n"
	case verb == "PWD":
		return "257 \"/\" is\xff\rthe\tfolder\r\n"
	case verb == "PASV":
		return "227 Entering Passive Mode (10,9,8,7,156,64)\r\n"
	case verb == "SIZE" && there:
		return fmt.Sprintf("213 %d\r\n", len(body))
	case verb == "MDTM" && there:
		return fmt.Sprintf("213 %s\r\n", f.times[name])
	case verb == "LIST" || verb == "RETR" && there:
		text := f.list
		if f.asked[name]++; verb == "RETR" {
			text = body
		}
		f.data <- text
		c.Write([]byte(cmp.Or(f.open, "150") + " here\r\n"))
		return "226 done\r\n"
	case verb == "QUIT":
		return "221 bye\r\n"
	case verb == "RETR", verb == "SIZE", verb == "MDTM", verb == "CWD":
		return "550 no such file\r\n"
	}
	return "502 unknown\r\n"
}

// TestOldFTP checks listings in the format of DOS, and that data connections go
// to the server itself, whatever address it names.
func TestOldFTP(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		f := &oldFTP{
			list:  "01-15-24  10:12AM                    4 one.txt\r\n01-15-24  10:12AM                    9 grown.log\r\n",
			files: map[string]string{"one.txt": "one\n", "grown.log": "more than nine\n"},
			times: map[string]string{"one.txt": "20240115101200", "grown.log": "20240115101200"},
		}
		f.serve(w, "old.example")
		o := w.options("ftp://old.example/pub/")
		sum := run(t, o)
		files := tree(t, o.Dir, "ftp/old.example/pub")
		if files["one.txt"] != "one\n" || files["grown.log"] != "more than nine\n" || len(files) != 3 || sum.Failed > 0 {
			t.Errorf("%q %+v", files, sum)
		}
		for _, to := range w.dialed {
			if to != "old.example:21" && to != "old.example:40000" {
				t.Errorf("dialed %s", to)
			}
		}
		if f.asked["one.txt"] != 1 || f.asked["grown.log"] != 2 {
			t.Errorf("requests %v: a growing file is retrieved twice", f.asked)
		}
		_, blocks := records(t, o.Dir)
		if text := strings.Join(blocks, ""); !strings.Contains(text, "received: 257 \"/\" is\xff the\tfolder\r\n") {
			t.Errorf("a line break within a reply is not a space in the metadata records: %q", text)
		}
		noted := ""
		for _, e := range events(t, o.Dir) {
			if strings.HasSuffix(e.URL, "grown.log") {
				noted += e.State + " " + e.Note + "; "
			}
		}
		if noted != "pending changed since it was listed; done the size differs from the listing; " {
			t.Errorf("notes %q", noted)
		}
		checkVerify(t, o.Dir)

		clear(f.asked)
		run(t, o)
		if f.asked["one.txt"] != 0 || f.asked["grown.log"] != 0 {
			t.Errorf("requests without a change: %v", f.asked)
		}
		// The size is unchanged, and the time is within the minute of
		// the listing.
		f.files["one.txt"], f.times["one.txt"] = "ONE\n", "20240115101230"
		if run(t, o); tree(t, o.Dir, "")["ftp/old.example/pub/one.txt"] != "ONE\n" {
			t.Error("a file with another time is not retrieved")
		}
		// The file changed, but its listing with seconds did not. The
		// listing counts unless Recheck is set.
		f.list = "+r,s4,m1705313550,\tone.txt\r\n+r,s9,m1705313520,\tgrown.log\r\n"
		clear(f.asked)
		f.files["one.txt"], f.times["one.txt"] = "oNe\n", "20240115101231"
		if run(t, o); f.asked["one.txt"] != 0 {
			t.Error("the listing was ignored")
		}
		o.Recheck = true
		if run(t, o); tree(t, o.Dir, "")["ftp/old.example/pub/one.txt"] != "oNe\n" {
			t.Error("a file is not requested")
		}
		checkVerify(t, o.Dir)
	})
}

// TestPreliminaryReply checks that a listing and a file are unchanged if only the
// preliminary reply of the transfer differs.
func TestPreliminaryReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		f := &oldFTP{
			list:  "01-15-24  10:12AM                    4 one.txt\r\n",
			files: map[string]string{"one.txt": "one\n"},
			times: map[string]string{"one.txt": "20240115101200"},
		}
		f.serve(w, "old.example")
		o := w.options("ftp://old.example/pub/")
		run(t, o)
		f.open, o.Recheck = "125", true
		if sum := run(t, o); sum.New > 0 || sum.Unchanged != 2 {
			t.Errorf("%+v", sum)
		}
		f.list = strings.Replace(f.list, "one.txt", "two.txt", 1)
		f.files["two.txt"], f.times["two.txt"] = "two\n", f.times["one.txt"]
		if sum := run(t, o); sum.New != 2 {
			t.Errorf("another listing: %+v", sum)
		}
		checkVerify(t, o.Dir)
	})
}

// TestSpecialFiles checks that devices, pipes and sockets in a listing are not
// requested. Some servers would open them and block.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		f := &oldFTP{
			files: map[string]string{"one.txt": "one\n", "pipe": "", "null": "", "sock": ""},
			times: map[string]string{},
		}
		for i, mode := range []string{"-rw-r--r--", "prw-r--r--", "crw-r--r--", "srwxr-xr-x"} {
			f.list += mode + "    1 root     root            4 Jan  1 12:00 " + []string{"one.txt", "pipe", "null", "sock"}[i] + "\r\n"
		}
		f.serve(w, "old.example")
		o := w.options("ftp://old.example/pub/")
		sum := run(t, o)
		if delete(f.asked, "."); f.asked["one.txt"] != 1 || len(f.asked) != 1 || sum.Failed > 0 {
			t.Errorf("requests %v: %+v", f.asked, sum)
		}
		checkVerify(t, o.Dir)
	})
}

// TestFTPSecondRun checks that each record of many files has its own
// conversation. A second run retrieves only the changed files, including one of
// the same size.
func TestFTPSecondRun(t *testing.T) {
	t.Parallel()
	s := peer.Vsftpd(t, peer.FTPOptions{})
	for i := range 12 {
		s.Put(fmt.Sprintf("pub/%02d", i), []byte(fmt.Sprintf("number %02d\n", i)))
	}
	o := options(t, "ftp://"+s.Addr+"/pub/")
	retrieved := func() (names []string) {
		heads, blocks := records(t, o.Dir)
		for i, h := range heads {
			if h.Type() != warc.Metadata || strings.HasSuffix(h.Target(), "/") {
				continue
			}
			name := path.Base(h.Target())
			talk := strings.ReplaceAll(blocks[i], name, "NAME")
			if strings.Count(talk, "sent: RETR NAME\r\n") != 1 || strings.Count(talk, "sent: EPSV") != 1 ||
				strings.Count(talk, "received: 2") < 4 || !strings.Contains(talk, "received: 226") || h.Get("Content-Type") != warc.FieldsMedia {
				t.Errorf("%s: %q", h.Target(), talk)
			}
			names = append(names, name)
		}
		return names
	}
	run(t, o)
	if names := retrieved(); len(names) != 12 {
		t.Errorf("new objects %v", names)
	}
	changed := s.Put("pub/07", []byte("NUMBER 07\n"))
	if err := os.Chtimes(changed, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	o.Client = client(t) // with new sessions, which have not requested data connections early
	run(t, o)
	if names := retrieved(); len(names) != 13 || names[12] != "07" {
		t.Errorf("new objects %v", names)
	}
	if got := tree(t, o.Dir, "ftp/"+treeHost(s.Addr)+"/pub")["07"]; got != "NUMBER 07\n" {
		t.Errorf("the file is %q", got)
	}
	checkVerify(t, o.Dir)
}

// TestSymlinks checks that symbolic links are listed, that they are followed
// only if FollowLinks is set, and that cycles end.
func TestSymlinks(t *testing.T) {
	t.Parallel()
	s := peer.Vsftpd(t, peer.FTPOptions{})
	for _, name := range []string{"pub/one.txt", "pub/a/in-a", "pub/b/in-b", "other/outside"} {
		s.Put(name, []byte(name))
	}
	for name, to := range map[string]string{
		"pub/etc": "/etc", "pub/self": ".", "pub/up": "..", "pub/link": "one.txt", "pub/none": "nowhere",
		"pub/a/x": "../b", "pub/b/y": "../a", "pub/b/top": "../../pub", "pub/over": "../other",
	} {
		if err := os.Symlink(to, filepath.Join(s.Root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for follow, want := range map[bool][]string{
		false: {"a/in-a pub/a/in-a", "b/in-b pub/b/in-b", "one.txt pub/one.txt"},
		true: {"a/in-a pub/a/in-a", "a/x/in-b pub/b/in-b", "b/in-b pub/b/in-b", "b/y/in-a pub/a/in-a", "link pub/one.txt",
			"one.txt pub/one.txt", "over/outside other/outside"},
	} {
		o := options(t, "ftp://"+s.Addr+"/pub/")
		o.FollowLinks = follow
		run(t, o)
		var got []string
		for name, text := range tree(t, o.Dir, "ftp/"+treeHost(s.Addr)+"/pub") {
			if !strings.Contains(text, "\n") { // not a listing
				got = append(got, name+" "+text)
			}
		}
		if g, w := sortedLines(got), sortedLines(want); g != w {
			t.Errorf("followed %v: got\n%s\nwant\n%s\n%s", follow, g, w, outcomes(t, o.Dir))
		}
		checkVerify(t, o.Dir)
	}
}
