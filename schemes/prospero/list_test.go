package prospero_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestList parses directory lines of old and new servers.
func TestList(t *testing.T) {
	const link = "LINK L FILE a INTERNET-D H.Example ASCII x/a 0\n"
	file := func(access string) string {
		return link + "ATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE " + access + "\n"
	}
	const external = "LINK L EXTERNAL a INTERNET-D Ftp.Example ASCII /pub/a.tar 0\n"
	for _, c := range []struct{ name, reply, want string }{
		{"file", link, `document "a" prospero://h.example/x/a target="FILE"`},
		{"file at a port, with a version", "LINK L FILE a INTERNET-D H(1526) ASCII /x;a?b 7\n", `document "a" prospero://h:1526//x%3Ba%3Fb;OBJECT-VERSION=7 target="FILE"`},
		{"port that is usual", "LINK L FILE a INTERNET-D H(1525) ASCII x 0\n", `document "a" prospero://h/x target="FILE"`},
		{"directory", "LINK L DIRECTORY d INTERNET-D H ASCII d 0\n", `menu "d" prospero://h/d target="DIRECTORY"`},
		{"both", "LINK L DIRECTORY+FILE d INTERNET-D H ASCII d 0\n", `menu "d" prospero://h/d target="DIRECTORY+FILE"`},
		{"union", "LINK U DIRECTORY d INTERNET-D H ASCII d 0\n", `menu "d" prospero://h/d target="DIRECTORY" union="true"`},
		{"server that calls itself localhost", "LINK L DIRECTORY d INTERNET-D LOCALHOST(15250) ASCII d 0\nLINK L FILE f INTERNET-D 127.0.0.1 ASCII f 0\n",
			`menu "d" prospero://192.0.2.1:15250/d target="DIRECTORY"` + "\n" + `document "f" f target="FILE"`},
		{"symbolic, and no right", "LINK L SYMBOLIC s VIRTUAL-SYSTEM vs ASCII /x 0\nLINK L NULL n INTERNET-D H ASCII x 0\n", `info "s" target="SYMBOLIC"` + "\n" + `info "n" target="NULL"`},
		{"host that is none", "LINK L FILE a INTERNET-D H(x) ASCII x 0\nLINK L FILE b INTERNET-D a/b ASCII x 0\nLINK L FILE c INTERNET-D '' ASCII x 0\n",
			`info "a" target="FILE"` + "\n" + `info "b" target="FILE"` + "\n" + `info "c" target="FILE"`},
		{"name with dots", "LINK L FILE a INTERNET-D H ASCII x/../y 0\n", `document "a" prospero://h/x%2F..%2Fy target="FILE"`},
		{"name with a line end", "LINK L FILE 'a\nb' INTERNET-D H ASCII x/a 0\n", `document "a\nb" prospero://h/x/a target="FILE"`},
		{"name in Latin-1", "LINK L FILE caf\xe9 INTERNET-D H ASCII caf\xe9 0\n", `document "café" prospero://h/caf%E9 target="FILE"`},
		{"filter, and what nobody knows", "FILTER DIRECTORY x\nWHATEVER y\n" + link + "UNRESOLVED c d\n", `info "FILTER DIRECTORY x"` + "\n" + `document "a" prospero://h.example/x/a target="FILE"` + "\n" + `info "UNRESOLVED c d"`},
		{"line that is no link", "LINK L FILE a\n" + link, `document "a" prospero://h.example/x/a target="FILE"`},
		{"nothing", "NONE-FOUND\n", ""},
		{"nothing at all", "", ""},
		{"version alone", "VERSION 5 x\nSUCCESS", ""},

		{"size and time", link + "ATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE 19' bytes'\nATTRIBUTE OBJECT INTRINSIC LAST-MODIFIED SEQUENCE 20261120130814Z\n", `document "a" prospero://h.example/x/a 19 20261120130814 target="FILE"`},
		{"old server: no SEQUENCE", link + "ATTRIBUTE OBJECT FIELD SIZE 19' bytes'\n", `document "a" prospero://h.example/x/a 19 target="FILE"`},
		{"older server", link + "LINK-INFO CACHED SIZE ASCII 19 bytes\nLINK-INFO CACHED UNIX-MODES ASCII -rw-r--r--\n", `document "a" prospero://h.example/x/a 19 modes="-rw-r--r--" target="FILE"`},
		{"size that is none", link + "ATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE -5' bytes'\nATTRIBUTE OBJECT INTRINSIC LAST-MODIFIED SEQUENCE today\n", `document "a" prospero://h.example/x/a target="FILE"`},
		{"size in other units", link + "ATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE 5' blocks'\n", `document "a" prospero://h.example/x/a target="FILE"`},
		{"attribute of an attribute", link + "ATTRIBUTE> OBJECT INTRINSIC SIZE SEQUENCE 5' bytes'\n", `document "a" prospero://h.example/x/a target="FILE"`},
		{"filter of a link", link + "ATTRIBUTE LINK FIELD FILTER FILTER L SERVER PREDEFINED x\n", `document "a" prospero://h.example/x/a filter="L SERVER PREDEFINED x" target="FILE"`},
		{"modes tell a directory", "LINK L OBJECT d INTERNET-D H ASCII d 0\nATTRIBUTE OBJECT INTRINSIC UNIX-MODES SEQUENCE drwxr-xr-x\n", `menu "d" prospero://h/d modes="drwxr-xr-x" target="OBJECT"`},

		{"anonymous ftp", file("AFTP INTERNET-D F ASCII '/pub/a b' BINARY"), `document "a" prospero://h.example/x/a access="ftp://f/pub/a%20b;type=i" target="FILE"`},
		{"anonymous ftp of text", file("AFTP INTERNET-D F ASCII a;b TEXT"), `document "a" prospero://h.example/x/a access="ftp://f/a%3Bb;type=a" target="FILE"`},
		{"ftp, with what the link says", file("FTP '' '' '' '' BINARY"), `document "a" prospero://h.example/x/a access="ftp://h.example/%2Fx/a" target="FILE"`},
		{"gopher", file("GOPHER INTERNET-D G(7070) ASCII 0/a/b"), `document "a" prospero://h.example/x/a access="gopher://g:7070/0/a/b" target="FILE"`},
		{"gopher with a type", file("GOPHER INTERNET-D G(70) ASCII /a/b 1"), `document "a" prospero://h.example/x/a access="gopher://g/1/a/b" target="FILE"`},
		{"the others", file("WAIS INTERNET-D W ASCII db/TEXT/3=a") + "ATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE HTTP INTERNET-D W ASCII /a?b\nATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE NEWS INTERNET-D N ASCII comp.x\nATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE TELNET INTERNET-D T(99) ASCII ''\n",
			`document "a" prospero://h.example/x/a access="http://w/a%3Fb wais://w/db/TEXT/3=a nntp://n/comp.x telnet://t:99/" target="FILE"`},
		{"ways of nobody", file("LOCAL '' '' '' ''") + "ATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE NFS INTERNET-D N ASCII /x fs\n", `document "a" prospero://h.example/x/a target="FILE"`},

		{"external", external + "ATTRIBUTE LINK FIELD ACCESS-METHOD SEQUENCE AFTP '' '' '' '' BINARY\n", `document "a" ftp://ftp.example/pub/a.tar;type=i target="EXTERNAL"`},
		{"external, the better of two", external + "ATTRIBUTE LINK FIELD ACCESS-METHOD SEQUENCE TELNET '' T '' ''\nATTRIBUTE LINK FIELD ACCESS-METHOD SEQUENCE GOPHER '' G '' 0x\n", `document "a" gopher://g/0x access="telnet://t/" target="EXTERNAL"`},
		{"external session", "LINK L EXTERNAL s INTERNET-D T ASCII '' 0\nATTRIBUTE LINK FIELD ACCESS-METHOD SEQUENCE TELNET\n", `session "s" telnet://t/ target="EXTERNAL"`},
		{"external by no way of ours", external + "ATTRIBUTE LINK FIELD ACCESS-METHOD SEQUENCE LOCAL\n", `info "a" target="EXTERNAL"`},
		{"archie's hits", external, `document "a" ftp://ftp.example/pub/a.tar target="EXTERNAL"`},
		{"archie's hits of version 1", "LINK L EXTERNAL(AFTP,DIRECTORY) d INTERNET-D Ftp.Example ASCII /pub/d 0\nLINK L EXTERNAL(AFTP,BINARY) f INTERNET-D Ftp.Example ASCII /pub/f 0\n",
			`menu "d" ftp://ftp.example/pub/d/ target="EXTERNAL(AFTP,DIRECTORY)"` + "\n" + `document "f" ftp://ftp.example/pub/f;type=i target="EXTERNAL(AFTP,BINARY)"`},
		{"archie's directories", "LINK L DIRECTORY d INTERNET-D ARCHIE.EXAMPLE ASCII ARCHIE/HOST/Ftp.Example/pub/d 0\n", `menu "d" ftp://ftp.example/pub/d/ target="DIRECTORY"`},

		{"error between the links", link + "FAILURE SERVER-FAILED\n", `document "a" prospero://h.example/x/a target="FILE"`},
	} {
		client, _ := serve(t, says(map[string]string{"LIST": c.reply}))
		got := outcome(client.Do(t.Context(), request(t, host+"d")))
		if c.name == "error between the links" {
			if !strings.Contains(got, "server-temp") {
				t.Errorf("%s: got %s", c.name, got)
			}
			continue
		}
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestEntriesWork: the URL of each entry returns the described object.
func TestEntriesWork(t *testing.T) {
	for _, name := range []string{"x/../y", "a;b", "a?b#c%", "it's a file", "/r/./s", "é", "\xff", "x//y/", ".."} {
		client, s := serve(t, says(map[string]string{
			"LIST": "LINK L DIRECTORY d INTERNET-D 192.0.2.1 ASCII '" + strings.ReplaceAll(name, "'", "''") + "' 0\n"}))
		resp, err := client.Do(t.Context(), request(t, host+"d"))
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range resp.Entries() {
			if err != nil {
				t.Fatal(err)
			}
			outcome(client.Do(t.Context(), &fetch.Request{URL: e.URL}))
		}
		if sent := texts(t, s); len(sent) != 2 || !strings.Contains(meaning(sent[1]), "DIRECTORY|ASCII|"+name+"\n") {
			t.Errorf("%q: sent %q", name, sent)
		}
	}
}
