package pop_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/pop"
)

// TestCyrus runs the tests of the contract with the POP3 server of Cyrus.
func TestCyrus(t *testing.T) {
	s := peer.CyrusPOP3D(t)
	big := "Subject: big\r\n\r\n" + strings.Repeat("..two dots\r\n.one dot\r\n.\r\nline\r\n", 3000)
	s.Add("INBOX", "Subject: one\r\n\r\nhello\r\n")
	s.Add("INBOX", big)
	login := peer.User + ":" + peer.Password + "@"
	o := pop.Options{TLS: scheme.TLSNever}
	root := "pop://" + login + s.POPAddr
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  func() []fetch.Scheme { return pop.Schemes(o) },
		Document: root + "/2", Body: []byte(big), Missing: root + "/3", Menu: root + "/", Names: []string{"1", "2"},
		Rejected: []string{root + "/x"},
		NoRanges: true,
	})
	for _, mechanism := range []string{"SCRAM-SHA-256", "CRAM-MD5", "PLAIN", "+LOGIN", "*"} {
		c := schemetest.NewClient(t, pop.Schemes(pop.Options{TLS: scheme.TLSNever, Mechanism: mechanism}))
		if _, body, err := schemetest.Read(t, c, root+"/1"); err != nil || !strings.HasSuffix(body, "hello\r\n") {
			t.Errorf("%s: got %q, %v", mechanism, body, err)
		}
	}
	c := schemetest.NewClient(t, pop.Schemes(o))
	if _, _, err := schemetest.Read(t, c, strings.Replace(root, peer.Password, "wrong", 1)+"/1"); fetch.FaultOf(err) != fetch.Auth {
		t.Errorf("wrong password: got %v", err)
	}
}
