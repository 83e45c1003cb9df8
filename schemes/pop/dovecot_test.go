package pop_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/pop"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDovecot(t *testing.T) {
	s := peer.Dovecot(t, peer.DovecotOptions{POP3: true, TLS: true, Config: []string{
		"auth_mechanisms = plain login cram-md5 scram-sha-1 scram-sha-256", "mail_max_userip_connections = 100",
	}})
	big := "Subject: big\r\n\r\n" + strings.Repeat("..two dots\r\n.one dot\r\n.\r\nline\r\n", 3000)
	s.Add(peer.User, "INBOX", "Subject: one\r\n\r\nhello\r\n")
	s.Add(peer.User, "INBOX", big)
	s.Add(peer.User, "INBOX", "Subject: three\r\n\r\n")
	root := "pop://" + peer.User + ":" + peer.Password + "@" + s.Addr
	never := pop.Options{TLS: scheme.TLSNever}
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  func() []fetch.Scheme { return pop.Schemes(never) },
		Document: root + "/2", Body: []byte(big), Missing: root + "/4", Menu: root + "/", Names: []string{"1", "2", "3"},
		Rejected: []string{root + "/x", root + "/0", root + "/1?q", root + "/1%0D%0ADELE%201", "pop:///1", "pop://127.0.0.1:25/1", "pop://127.0.0.1:6379/"},
		NoRanges: true,
	})
	trusting := func(o *fetch.Options) { o.TLS = &tls.Config{RootCAs: s.Cert.Pool} }
	for _, test := range []struct {
		name, url string
		o         pop.Options
		want      string
	}{
		{"STLS", root, pop.Options{}, "hello"},
		{"pops", "pops://alice:s3cret@" + s.TLSAddr, pop.Options{}, "hello"},
		{"pop3s", "pop3s://alice:s3cret@" + s.TLSAddr, pop.Options{}, "hello"},
		{"pop3", "pop3" + strings.TrimPrefix(root, "pop"), pop.Options{TLS: scheme.TLSRequired}, "hello"},
		{"CRAM-MD5 in the URL", "pop://alice;AUTH=CRAM-MD5:s3cret@" + s.Addr, never, "hello"},
		{"SCRAM-SHA-1", root, pop.Options{TLS: scheme.TLSNever, Mechanism: "SCRAM-SHA-1"}, "hello"},
		{"SCRAM-SHA-256", root, pop.Options{TLS: scheme.TLSNever, Mechanism: "scram-sha-256"}, "hello"},
		{"PLAIN", root, pop.Options{TLS: scheme.TLSNever, Mechanism: "PLAIN"}, "hello"},
		{"LOGIN", root, pop.Options{TLS: scheme.TLSNever, Mechanism: "LOGIN"}, "hello"},
		{"USER", root, pop.Options{TLS: scheme.TLSNever, Mechanism: "+LOGIN"}, "hello"},
		{"any", root, pop.Options{TLS: scheme.TLSNever, Mechanism: "*"}, "hello"},
		{"APOP without a timestamp", root, pop.Options{TLS: scheme.TLSNever, Mechanism: "+APOP"}, "auth"},
		{"unknown mechanism", root, pop.Options{TLS: scheme.TLSNever, Mechanism: "NTLM"}, "auth"},
		{"wrong password", "pop://alice:wrong@" + s.Addr, never, "auth"},
		{"no user", "pop://" + s.Addr, never, "auth"},
	} {
		c := schemetest.NewClient(t, pop.Schemes(test.o), trusting)
		_, got, err := schemetest.Read(t, c, test.url+"/1")
		if err != nil {
			got = fetch.FaultOf(err).String()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, %v, want %s", test.name, got, err, test.want)
		}
	}
	untrusting := schemetest.NewClient(t, pop.Schemes(pop.Options{}))
	if _, err := untrusting.Get(t.Context(), root+"/1"); !errors.Is(err, fetch.TLS) {
		t.Errorf("unknown certificate: got %v", err)
	}
	c := schemetest.NewClient(t, pop.Schemes(never))
	all, err := schemetest.List(t, c, root)
	if err != nil || len(all) != 3 {
		t.Fatalf("got %v, %v", all, err)
	}
	if got, want := schemetest.DescribeEntry(all[1], "pop://alice@"+s.Addr), fmt.Sprintf(`document "2" /2 message/rfc822 %d`, len(big)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	req := schemetest.NewRequest(t, root+"/2")
	req.Op = fetch.Stat
	if resp, _, err := schemetest.ReadRequest(t, c, req); err != nil || resp.Size != int64(len(big)) {
		t.Errorf("stat: got %v, %v", resp, err)
	}
}
