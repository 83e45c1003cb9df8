package prospero_test

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/prospertest"
	"github.com/anyurl/fetch/internal/wire/prospero/ardp"
	"github.com/anyurl/fetch/internal/wire/prospero/message"
)

const (
	dir  = ` group="root" modes="drwxr-xr-x" owner="root" target="DIRECTORY"`
	file = ` group="root" modes="-rw-r--r--" owner="root" target="FILE"`
)

// TestRecorded fetches URLs from a server that replays the recording of dirsrv.
func TestRecorded(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{"AFTP/pub", `menu "many" prospero://192.0.2.1:15250/AFTP/pub/many 20261120131127` + dir + `
document "hello.txt" prospero://192.0.2.1:15250/AFTP/pub/hello.txt text/plain 19 20261120130814 access="ftp://192.0.2.1/pub/hello.txt;type=i"` + file + `
menu "odd names" prospero://192.0.2.1:15250/AFTP/pub/odd%20names 20261120131127` + dir + `
menu "papers" prospero://192.0.2.1:15250/AFTP/pub/papers 20261120130814` + dir + `
document "link.txt" prospero://192.0.2.1:15250/AFTP/pub/link.txt text/plain 19 20261120130814 access="ftp://192.0.2.1/pub/link.txt;type=i"` + file + `
document "alpha.txt" prospero://192.0.2.1:15250/AFTP/pub/alpha.txt text/plain 128 20261120130814 access="ftp://192.0.2.1/pub/alpha.txt;type=i"` + file},
		{"AFTP/pub/odd%20names", `document "it's a file.txt" prospero://192.0.2.1:15250/AFTP/pub/odd%20names/it's%20a%20file.txt text/plain 2 20261120131127 access="ftp://192.0.2.1/pub/odd%20names/it's%20a%20file.txt;type=i"` + file},
		{"AFTP/pub/hello.txt", "redirect to ftp://192.0.2.1/pub/hello.txt;type=i"},
		{"/srv/pros/aftp/pub/hello.txt", `document text/plain Prospero 19 bytes: "anonymous ftp file\n"`},
		{"AFTP/pub/nothing", "not-found: get AFTP/pub/nothing: server replied: FAILURE NOT-FOUND"},
		{"nothing", "not-found: get nothing: server replied: FAILURE NOT-FOUND"},
	} {
		client, _ := serve(t, faultnet.Packets{Answer: prospertest.Dirsrv(t).Answer})
		if got := outcome(client.Do(t.Context(), request(t, host+c.path))); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.path, got, c.want)
		}
	}
}

// TestRecordedMany: a listing of 26 packets is complete, also if the packet
// that was lost in the recording is lost.
func TestRecordedMany(t *testing.T) {
	for name, fates := range map[string]faultnet.Fates{"well": nil, "with a loss": faultnet.Nth(faultnet.Drop, 3)} {
		client, s := serve(t, faultnet.Packets{Answer: prospertest.Dirsrv(t).Answer, Replies: fates})
		resp, err := client.Do(t.Context(), request(t, host+"AFTP/pub/many"))
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for e, err := range resp.Entries() {
			if err != nil {
				t.Fatal(err)
			}
			names[e.Name] = true
		}
		if len(names) != 200 {
			t.Errorf("%s: %d names", name, len(names))
		}
		recorded := prospertest.Recorded(t, "03-multipacket.hex")
		for _, b := range s.Requests()[1:] { // except for the id, acknowledgements equal the recorded ones
			p, err := ardp.Parse(b)
			want, _ := ardp.Parse(recorded[17].Bytes)
			if p.ID, want.ID, want.Received, p.Received = 0, 0, 0, 0; err != nil || string(p.Append(nil)) != string(want.Append(nil)) {
				t.Errorf("%s: sent %+v", name, p)
			}
		}
	}
}

// TestRecordedClients compares our requests with those of Prospero's clients,
// line by line, except for the user name and the option for unions.
func TestRecordedClients(t *testing.T) {
	client, s := serve(t, faultnet.Packets{Answer: prospertest.Dirsrv(t).Answer})
	for _, path := range []string{"AFTP/pub", "/srv/pros/aftp/pub/hello.txt", "/srv/pros/aftp/pub/pixel.gif", "/nosuch/file"} {
		outcome(client.Do(t.Context(), request(t, host+path)))
	}
	ours := texts(t, s)
	header, err := ardp.Parse(s.Requests()[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string
		nth  int
		ours int
	}{
		{"01-clients.hex", 4, 0},   // vls -A /pub
		{"02-requests.hex", 14, 3}, // CONTENTS
		{"05-contents.hex", 0, 6},
		{"02-requests.hex", 20, 8}, // #ALL
	} {
		p, err := ardp.Parse(prospertest.Recorded(t, c.file)[c.nth].Bytes)
		if err != nil {
			t.Fatal(err)
		}
		theirs := strings.Replace(string(p.Data), "+LEXPAND", "", 1)
		header.ID, header.Data, p.ID, p.Data = 0, nil, 0, nil
		if !reflect.DeepEqual(header, p) {
			t.Errorf("%s: our header says %+v, theirs %+v", c.file, header, p)
		}
		if c.ours >= len(ours) || meaning(ours[c.ours]) != meaning(theirs) {
			t.Errorf("%s: we say %q, they %q", c.file, ours, theirs)
		}
	}
}

// meaning returns a request as tokens, without the client's name.
func meaning(text string) string {
	var all []string
	r := message.NewReader(strings.NewReader(text))
	for l, err := r.Line(); err == nil; l, err = r.Line() {
		if l.Token(0) != "VERSION" && l.Token(0) != "AUTHENTICATE" {
			all = append(all, strings.Join(l.Tokens, "|"))
		}
	}
	return strings.Join(all, "\n")
}

func TestRecordedStat(t *testing.T) {
	client, _ := serve(t, faultnet.Packets{Answer: prospertest.Dirsrv(t).Answer})
	for path, want := range map[string]string{
		"AFTP/pub/hello.txt": "document text/plain 19 20261120130814 19 bytes",
		"AFTP/pub":           "menu  -1 20261120131127 4096 bytes",
	} {
		req := request(t, host+path)
		req.Op = fetch.Stat
		resp, err := client.Do(t.Context(), req)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		resp.Body.Close()
		got := strings.Join([]string{resp.Kind.String(), resp.Media, strconv.FormatInt(resp.Size, 10), resp.Time.Format("20060102150405"), resp.Header.Get("SIZE")}, " ")
		if got != want || !strings.Contains(string(resp.Head), "UNIX-MODES SEQUENCE") {
			t.Errorf("%s: got %s, head %q", path, got, resp.Head)
		}
	}
}
