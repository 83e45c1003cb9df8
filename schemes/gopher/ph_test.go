package gopher_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
)

// phone returns a client of a phone book server that sends the given response
// (RFC 2378).
func phone(t *testing.T, answer string) (*fetch.Client, *faultnet.Server) {
	n := faultnet.NewNetwork(t)
	s := n.Serve("192.0.2.1:105", faultnet.Script{faultnet.Expect("quit\r\n$"), faultnet.Send(answer)})
	return client(t, func(o *fetch.Options) {
		o.Dial, o.Policy.Ports = n.Dial, []fetch.PortRule{{Scheme: "gopher", Port: 105}}
	}), s
}

const twoPeople = "102:There were 2 matches to your request.\r\n" +
	"-200:1:            name: John Doe\r\n-200:1:           email: john@example.org\r\n-200:1:         address: 1 Main St\r\n-200:1:                : Springfield\r\n" +
	"-200:2:            name: Jos\xe9 Roe\r\n-508:2:           email: Not present in entry.\r\n200:Ok.\r\n"

func TestPhoneBook(t *testing.T) {
	c, s := phone(t, twoPeople+"200:Bye!\r\n")
	resp, err := c.Get(t.Context(), "gopher://192.0.2.1:105/2%09name=doe%20return%20email")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if resp.Body.Close(); string(body) != twoPeople || err != nil || resp.Kind != fetch.Menu || resp.Proto != "ph" || resp.Code != 102 {
		t.Errorf("got %q, %v; %v %s %d", body, err, resp.Kind, resp.Proto, resp.Code)
	}
	if sent := string(s.Conns()[0].All()); sent != "query name=doe return email\r\nquit\r\n" {
		t.Errorf("sent %q", sent)
	}
	people := entries(t, c, "gopher://192.0.2.1:105/2?doe")
	var got []string
	for _, e := range people {
		got = append(got, fmt.Sprint(e.Kind, " ", e.Name, " ", e.Extra, strings.Count(e.Raw, "\n")))
	}
	if want := []string{
		"info John Doe map[address:1 Main St\nSpringfield email:john@example.org name:John Doe] 3",
		"info José Roe map[email:Not present in entry. name:José Roe] 1",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestPhoneBookFaults(t *testing.T) {
	for _, c := range []struct {
		answer string
		want   fetch.Fault
	}{
		{"501:No matches to your query.\r\n", fetch.NotFound},
		{"475:Database unavailable; try later.\r\n", fetch.TryLater},
		{"500:Server error.\r\n", fetch.Denied},
		{"502:Too many matches to request.\r\n", fetch.TooLarge},
		{"503:Not authorized.\r\n", fetch.Auth},
		{"507:Field does not exist.\r\n", fetch.BadURL},
		{"515:No indexed field in query.\r\n", fetch.BadURL},
		{"598:Command unknown.\r\n", fetch.Denied},
		{"102:There were 2 matches.\r\n500:Server error.\r\n", fetch.Denied},
		{"102:There were 2 matches.\r\n-200:1:name: x\r\n", fetch.Truncated},
		{"", fetch.Truncated},
		{"102:There", fetch.Truncated},
		{"iNot a phone book\t\t\t\r\n", fetch.Protocol},
		{"102:x\r\nHTTP/1.1 400\r\n", fetch.Protocol},
		{"-200:1:name: " + strings.Repeat("x", 9000) + "\r\n", fetch.Protocol},
		{"-200:1:name: " + strings.Repeat("x", 20000) + "\r\n", fetch.Protocol},
	} {
		cl, _ := phone(t, c.answer)
		got := fetchURL(t.Context(), t, cl, "gopher://192.0.2.1:105/2%09doe")
		if !errors.Is(got.Err, c.want) {
			t.Errorf("%.40q: got %v, want %v", c.answer, got.Err, c.want)
		}
		if got.Err != nil && strings.ContainsAny(got.Err.Error(), "\r\n\t") {
			t.Errorf("unescaped bytes in %q", got.Err)
		}
	}
}

// TestPhoneBookLimit checks that the size of an entry is limited and the number
// of entries is not.
func TestPhoneBookLimit(t *testing.T) {
	one := strings.Repeat("-200:1:note: "+strings.Repeat("x", 1000)+"\r\n", 2000) + "200:Ok.\r\n"
	many := strings.Repeat("-200:1:name: a\r\n-200:2:name: b\r\n", 50_000) + "200:Ok.\r\n"
	for _, c := range []struct {
		text string
		want int
		err  error
	}{{one, 0, fetch.TooLarge}, {many, 100_000, nil}} {
		cl, _ := phone(t, c.text)
		resp, err := cl.Get(t.Context(), "gopher://192.0.2.1:105/2%09doe")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		var last error
		for _, err := range resp.Entries() {
			if last = err; err == nil {
				n++
			}
		}
		if n != c.want || !errors.Is(last, c.err) {
			t.Errorf("got %d entries, %v", n, last)
		}
	}
}
