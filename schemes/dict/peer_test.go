package dict_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/dict"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var dictionaries = []peer.Dictionary{
	{Name: "animals", Description: "Animals of the sea", Definitions: map[string]string{
		"whale": "A large mammal of the sea.\n.x with \"dots\"\n.. and dots", "whaler": "A ship.", "éléphant de mer": "Mirounga.",
	}},
	{Name: "ships", Description: "Ships: a test", Definitions: map[string]string{"whale": "A nickname.", `an odd "word" a\b`: "Odd."}},
}

// TestDictd retrieves definitions and lists from a real server.
func TestDictd(t *testing.T) {
	t.Parallel()
	s := peer.Dictd(t, dictionaries...)
	c := schemetest.NewClient(t, dict.Schemes())
	prefix := "dict://" + s.Addr
	for _, test := range []struct {
		path string
		want []string // parts of the description
	}{
		{"/d:whale", []string{"From Animals of the sea [animals]:\\r\\n\\r\\n", "A large mammal of the sea.\\r\\n", ".x with \\\"dots\\\"\\r\\n.. and dots"}},
		{"/d:whale:*", []string{"A large mammal", "\\r\\nFrom Ships: a test [ships]:\\r\\n", "A nickname."}},
		{"/d:whale:*:2", []string{"document text/plain; charset=utf-8 DICT: \"whale\\r\\n", "A nickname."}},
		{"/d:whale:*:3", []string{"not-found: ", "the word has 2 definitions"}},
		{"/d:%C3%A9l%C3%A9phant%20de%20mer", []string{"Mirounga."}},
		{"/d:an%20odd%20%22word%22%20a%5Cb:ships", []string{"Odd."}},
		{"/d:squid", []string{"not-found: ", "DEFINE: 552 no match"}},
		{"/d:whale:birds", []string{"not-found: ", "550 invalid database"}},
		{"/m:whal:*:prefix", []string{"document \"whale\" /d:whale:animals text/plain; charset=utf-8 database=\"animals\"\n", "/d:whaler:animals", "/d:whale:ships"}},
		{"/m:whal:*:no-such", []string{"not-found: ", "551 invalid strategy"}},
		{"/", []string{"index \"animals\" /d::animals description=\"Animals of the sea\"\n", "index \"ships\" /d::ships"}},
		{"/show:db", []string{"index \"ships\" /d::ships"}},
		{"/show:strat", []string{"prefix"}},
		{"/show:info:ships", []string{"ships"}},
		{"/show:server", []string{"dictd"}},
		{"/status", []string{"status"}},
		{"/help", []string{"DEFINE"}},
	} {
		resp, err := c.Get(t.Context(), prefix+test.path)
		got := schemetest.Describe(resp, err, prefix)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %s in %s", test.path, want, got)
			}
		}
	}
}

// TestLogin authenticates to a real server.
func TestLogin(t *testing.T) {
	t.Parallel()
	s := peer.Dictd(t, dictionaries...)
	c := schemetest.NewClient(t, dict.Schemes())
	for user, fault := range map[string]string{peer.User + ":" + peer.Password: "ok", peer.User + ";AUTH:" + peer.Password: "ok", peer.User + ":wrong": "auth"} {
		_, _, err := schemetest.Read(t, c, "dict://"+user+"@"+s.Addr+"/d:whale")
		if got := (schemetest.Result{Err: err}).Fault(); got != fault {
			t.Errorf("%s: got %v, want %s", user, err, fault)
		}
	}
}

// TestSearch searches a real server.
func TestSearch(t *testing.T) {
	t.Parallel()
	s := peer.Dictd(t, dictionaries...)
	c := schemetest.NewClient(t, dict.Schemes())
	for from, want := range map[string]string{
		"":                "/m:whale:*",
		"/d::ships":       "/m:whale:ships",
		"/m:x:*:prefix":   "/m:whale:*:prefix",
		"/show:info:a%3A": "/m:whale:a%3A",
	} {
		u, err := c.Query(schemetest.NewRequest(t, "dict://"+s.Addr+from).URL, fetch.Search{Words: "whale"})
		if err != nil || u.Path() != want {
			t.Errorf("%s: got %v, %v, want %s", from, u, err, want)
		}
	}
	all, err := schemetest.List(t, c, "dict://"+s.Addr+"/m:whale:ships")
	if err != nil || len(all) != 1 || all[0].Name != "whale" {
		t.Errorf("got %v, %v", all, err)
	}
}
