package gemini_test

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/gemini"
)

// TestGeminiServer runs the tests of the contract with gemini-server.
func TestGeminiServer(t *testing.T) {
	s := peer.GeminiServer(t)
	s.Put("x.gmi", []byte("# Title\n=> sub/ A folder\n=> data.bin bytes\n"))
	s.Put("data.bin", big)
	o := inTemp(t)
	root := "gemini://" + s.Addr
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  func() []fetch.Scheme { return gemini.Schemes(o) },
		Document: root + "/data.bin",
		Body:     big,
		Missing:  root + "/nosuch",
		Menu:     root + "/x.gmi",
		Names:    []string{"A folder", "bytes"},
		Rejected: []string{"gemini:///x"},
		NoRanges: true,
	})
	c := schemetest.NewClient(t, gemini.Schemes(o))
	if resp, _, err := schemetest.Read(t, c, root+"/moved"); err != nil || resp.URL.String() != root+"/x.gmi" {
		t.Errorf("redirect: got %v", err)
	}
	if _, _, err := schemetest.Read(t, c, root+"/ask"); fetch.FaultOf(err) != fetch.NeedQuery {
		t.Errorf("input: got %v", err)
	}
	if _, body, err := schemetest.Read(t, c, root+"/ask?a%20b"); err != nil || body != "you said a b\n" {
		t.Errorf("answer: got %q, %v", body, err)
	}
}
