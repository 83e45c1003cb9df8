package logins

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
)

func credential(host, user, password string) fetch.Credential {
	return fetch.Credential{Origin: fetch.Origin{Scheme: "ftp", Host: host, Port: 21}, User: user, Password: fetch.Secret(password)}
}

// users returns the users of the logins of a session.
func users(s *Store, session string) string {
	var all []string
	for _, l := range s.List(session) {
		all = append(all, l.User)
	}
	return strings.Join(all, " ")
}

func TestSessions(t *testing.T) {
	var s Store
	defer s.Close()
	c := credential("a.example", "alice", "first")
	s.Add("one", c)
	other := c.Origin
	other.Port = 2121
	for _, find := range []struct {
		session string
		origin  fetch.Origin
		user    string
		want    bool
	}{
		{"one", c.Origin, "", true},
		{"one", c.Origin, "alice", true},
		{"one", c.Origin, "bob", false},
		{"two", c.Origin, "", false},
		{"", c.Origin, "", false},
		{"one", other, "", false},
		{"one", fetch.Origin{Scheme: "ftps", Host: "a.example", Port: 21}, "", false},
		{"one", fetch.Origin{Scheme: "ftp", Host: "b.example", Port: 21}, "", false},
	} {
		if found := s.Find(find.session, find.origin, find.user); (found != nil) != find.want {
			t.Errorf("Find(%q, %v, %q) = %v", find.session, find.origin, find.user, found)
		}
	}
	s.Add("two", credential("a.example", "bob", "second"))
	s.ForgetAll("one")
	if got := users(&s, "one") + "," + users(&s, "two"); got != ",bob" {
		t.Errorf("after ForgetAll: %s", got)
	}
	s.Forget("two", c.Origin)
	if s.Find("two", c.Origin, "") != nil {
		t.Error("Forget has no effect")
	}
}

func TestReport(t *testing.T) {
	var s Store
	defer s.Close()
	c := credential("a.example", "alice", "wrong")
	s.Add("one", c)
	s.Report("one", &c, false)
	if s.Find("one", c.Origin, "") != nil {
		t.Error("a rejected login is kept")
	}
	right := credential("a.example", "alice", "right")
	s.Add("one", right)
	s.Report("one", &c, false) // of a request that started before
	s.Report("one", &right, true)
	s.Report("one", &right, false) // one object needs another user
	if s.Find("one", c.Origin, "") == nil {
		t.Error("a login is forgotten that the server had accepted")
	}
}

// TestTime checks that logins are removed without further calls.
func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Store
		defer s.Close()
		count := func() int {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.all)
		}
		c := credential("a.example", "alice", "x")
		s.Add("one", c)
		time.Sleep(MaxUnused + time.Second)
		synctest.Wait()
		if n := count(); n != 0 {
			t.Errorf("%d logins after %v without use", n, MaxUnused)
		}
		s.Add("one", c)
		uses := 0
		for start := time.Now(); s.Find("one", c.Origin, "") != nil; uses++ {
			time.Sleep(MaxUnused / 2)
			if since := time.Since(start); since > MaxAge+MaxUnused {
				t.Fatalf("a login is still used after %v", since)
			}
		}
		if want := int(MaxAge / (MaxUnused / 2)); uses != want {
			t.Errorf("%d uses, want %d", uses, want)
		}
		synctest.Wait()
		if n := count(); n != 0 {
			t.Errorf("%d logins after %v", n, MaxAge)
		}
	})
}

func TestNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Store
		defer s.Close()
		for i := range MaxPerSession + 1 {
			s.Add("one", credential(fmt.Sprintf("h%d.example", i), fmt.Sprintf("u%d", i), "x"))
			time.Sleep(time.Millisecond)
			s.Find("one", credential("h0.example", "", "").Origin, "")
		}
		got := users(&s, "one")
		if n := len(strings.Fields(got)); n != MaxPerSession || strings.Contains(got+" ", "u1 ") || !strings.Contains(got, "u0") {
			t.Errorf("%d logins: %s", n, got)
		}
		time.Sleep(time.Millisecond) // so that the last use is earlier than the next login
		for i := range MaxTotal {
			s.Add(fmt.Sprint("session ", i), credential("a.example", "alice", "x"))
			time.Sleep(time.Millisecond)
		}
		if n := len(s.all); n != MaxTotal || users(&s, "one") != "" {
			t.Errorf("%d logins, of the first session %s", n, users(&s, "one"))
		}
		s.Close()
		s.Add("one", credential("a.example", "alice", "x"))
		if users(&s, "one") != "" {
			t.Error("a closed Store keeps logins")
		}
	})
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, user, password string
		ok                   bool
	}{
		{"ordinary", "alice", "secret word", true},
		{"empty password", "alice", "", true},
		{"no user", "", "x", false},
		{"line feed", "alice\nDELE", "x", false},
		{"carriage return", "alice", "x\rDELE", false},
		{"NUL", "alice", "x\x00y", false},
		{"long user", strings.Repeat("a", maxUser+1), "x", false},
		{"long password", "alice", strings.Repeat("a", maxPassword+1), false},
	} {
		err := Check(c.user, c.password)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && len(c.password) > 1 && strings.Contains(err.Error(), c.password) {
			t.Errorf("%s: the error contains the password: %v", c.name, err)
		}
	}
}
