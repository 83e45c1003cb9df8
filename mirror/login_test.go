package mirror_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// TestLoginRecord checks that the archive contains neither a login nor the
// exchange in which the server requested it.
func TestLoginRecord(t *testing.T) {
	t.Parallel()
	for name, auth := range map[string]http.Auth{"unasked": http.Basic, "asked for": http.AnyAuth} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := peer.Nginx(t, peer.NginxOptions{Server: "location /in/ { auth_basic x; auth_basic_user_file passwords; }"})
			if err := os.WriteFile(s.Dir+"/passwords", []byte("alice:{PLAIN}secret\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			s.Put("in/a", []byte("behind the login"))
			o := options(t, "http://"+s.Addr+"/in/a")
			o.Seeds = []uri.URI{uri.MustParse("http://alice:secret@" + s.Addr + "/in/a")}
			options := fetch.Options{Policy: fetch.Typed()}
			o.Client = fetch.New(options, schemes.All(schemes.Options{HTTP: http.Options{Auth: auth}})...)
			defer o.Client.Close()
			if sum := run(t, o); sum.New != 1 {
				t.Fatalf("%+v", sum)
			}
			blocks := blocksOf(t, warcs(t, o.Dir)[0])
			if got := blocks[warc.Request]; strings.Count(got, "GET ") != 1 || !strings.Contains(got, "Authorization: ***\r\n") {
				t.Errorf("the request is %q", got)
			}
			if got := blocks[warc.Response]; strings.Count(got, "HTTP/1.1 ") != 1 || !strings.HasPrefix(got, "HTTP/1.1 200 ") {
				t.Errorf("the response is %q", got)
			}
			for f, err := range mirror.Open(mirror.Location{Dir: o.Dir}).Verify(t.Context()) {
				t.Errorf("verify: %v, %v", f, err)
			}
		})
	}
}

// blocksOf returns the block of the last record of each type, except records of
// robots.txt.
func blocksOf(t *testing.T, name string) map[warc.Type]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	blocks := map[warc.Type]string{}
	for r := warc.NewReader(f); ; {
		h, err := r.Next()
		if err != nil {
			return blocks
		}
		var b strings.Builder
		if _, err := io.Copy(&b, r); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(h.Target(), "/robots.txt") {
			blocks[h.Type()] = b.String()
		}
	}
}

// TestTwoLogins checks that seeds with two users of one server are rejected.
func TestTwoLogins(t *testing.T) {
	t.Parallel()
	for _, other := range []string{"imap://bob:pass@h/", "imap://alice:other@h:143/INBOX"} {
		o := options(t, "imap://alice:secret@h/", other)
		if _, err := mirror.Run(t.Context(), o); fetch.FaultOf(err) != fetch.Usage || !strings.Contains(err.Error(), "two logins for h") {
			t.Errorf("%s: %v", other, err)
		}
		if all, _ := os.ReadDir(o.Dir); len(all) > 0 {
			t.Errorf("%s: %v was written", other, all)
		}
	}
}
