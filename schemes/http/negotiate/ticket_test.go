package negotiate

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/anyurl/fetch/fetch"
)

// TestTicketOwner checks that the tickets of kinit and earlier tickets are used
// only for their user, and that a ticket for a password is not used with another
// password. Other logins need the KDC, which refuses the connection.
func TestTicketOwner(t *testing.T) {
	name := filepath.Join(t.TempDir(), "krb5.conf")
	if err := os.WriteFile(name, []byte("[libdefaults]\n default_realm = R\n[realms]\n R = {\n  kdc = a.test\n }\n OTHER = {\n  kdc = b.test\n }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	key := types.EncryptionKey{KeyType: etypeID.AES128_CTS_HMAC_SHA1_96, KeyValue: make([]byte, 16)}
	service := types.NewPrincipalName(2, "HTTP/host.test")
	issued := messages.Ticket{TktVNO: 5, Realm: "R", SName: service, EncPart: types.EncryptedData{EType: 17, Cipher: []byte("x")}}
	text, err := issued.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	cached := &credentials.CCache{}
	cached.DefaultPrincipal.Realm, cached.DefaultPrincipal.PrincipalName = "R", types.NewPrincipalName(1, "alice")
	// The cache can also have tickets of other users, such as those of kvno -U.
	for _, client := range []string{"mallory@R", "alice@OTHER", "alice@R"} {
		entry := &credentials.Credential{Key: key, EndTime: time.Now().Add(time.Hour), Ticket: text}
		name, realm, _ := strings.Cut(client, "@")
		entry.Client.Realm, entry.Client.PrincipalName = realm, types.NewPrincipalName(1, name)
		entry.Server.Realm, entry.Server.PrincipalName = "R", service
		if client != "alice@R" {
			entry.Ticket = []byte("of another user")
		}
		cached.Credentials = append(cached.Credentials, entry)
	}
	keys := keytab.New()
	if err := keys.AddEntry("bob", "R", "secret", time.Now(), 1, etypeID.AES128_CTS_HMAC_SHA1_96); err != nil {
		t.Fatal(err)
	}
	refuse := func(context.Context, string) (net.Conn, error) { return nil, fetch.Connect.Errorf("refused") }
	for _, c := range []struct {
		name  string
		login *fetch.Credential
		keys  *keytab.Keytab
		want  fetch.Fault
	}{
		{"user of the cache", nil, nil, 0},
		{"name in the cache", &fetch.Credential{User: "alice"}, nil, 0},
		{"name and realm in the cache", &fetch.Credential{User: "alice@R"}, nil, 0},
		{"another realm", &fetch.Credential{User: "alice@OTHER"}, nil, fetch.Auth},
		{"another user", &fetch.Credential{User: "bob"}, nil, fetch.Auth},
		{"another user with a keytab", &fetch.Credential{User: "bob"}, keys, fetch.Connect},
		{"password of an earlier ticket", &fetch.Credential{User: "carol", Password: "right"}, nil, 0},
		{"another password", &fetch.Credential{User: "carol", Password: "wrong"}, nil, fetch.Connect},
		{"no password", &fetch.Credential{User: "carol"}, nil, fetch.Auth},
	} {
		a, err := New(Options{Config: name})
		if err != nil {
			t.Fatal(err)
		}
		a.cache, a.keytab = cached, c.keys
		carol := &fetch.Credential{User: "carol", Password: "right"}
		user, err := a.user(carol)
		if err != nil {
			t.Fatal(err)
		}
		a.tickets[ticketKey(user, carol)+service.PrincipalNameString()] = ticket{user, issued, key, time.Now().Add(time.Hour)}
		token, err := a.Token(t.Context(), refuse, "host.test", c.login)
		if fetch.FaultOf(err) != c.want || (err == nil) != (token != "") {
			t.Errorf("%s: %d bytes, %v", c.name, len(token), err)
		}
	}
}

// TestDamagedKeytab checks that the error for a truncated keytab has no key.
func TestDamagedKeytab(t *testing.T) {
	config := filepath.Join(t.TempDir(), "krb5.conf")
	if err := os.WriteFile(config, []byte("[libdefaults]\n default_realm = R\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys := keytab.New()
	for range 2 {
		if err := keys.AddEntry("alice", "R", "secret", time.Now(), 1, etypeID.AES128_CTS_HMAC_SHA1_96); err != nil {
			t.Fatal(err)
		}
	}
	text, err := keys.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	key := string(keys.Entries[0].Key.KeyValue)
	for _, n := range []int{1, len(text) / 3, len(text) - 20, len(text) - 1} {
		name := filepath.Join(t.TempDir(), "keytab")
		if err := os.WriteFile(name, text[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := New(Options{Config: config, Keytab: name})
		if fetch.FaultOf(err) != fetch.Local || strings.Contains(err.Error(), key) {
			t.Errorf("%d of %d bytes: %q", n, len(text), err)
		}
	}
}

// TestWaitingRequest checks that a request does not wait longer than its context
// allows while another one waits for the KDC.
func TestWaitingRequest(t *testing.T) {
	config := filepath.Join(t.TempDir(), "krb5.conf")
	if err := os.WriteFile(config, []byte("[libdefaults]\n default_realm = R\n[realms]\n R = {\n  kdc = a.test\n }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := New(Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	login := &fetch.Credential{User: "alice", Password: "secret"}
	dialed := make(chan struct{})
	silent := func(ctx context.Context, _ string) (net.Conn, error) {
		close(dialed)
		<-ctx.Done()
		return nil, fetch.Timeout.Errorf("no answer")
	}
	first, cancel := context.WithCancel(t.Context())
	defer cancel()
	go a.Token(first, silent, "host.test", login)
	<-dialed
	second, end := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer end()
	done := make(chan error)
	go func() {
		_, err := a.Token(second, nil, "host.test", login)
		done <- err
	}()
	select {
	case err := <-done:
		if fetch.FaultOf(err) != fetch.Timeout {
			t.Errorf("got %v", err)
		}
	case <-time.After(5 * time.Minute):
		t.Error("the request waits for the KDC of the other request")
		cancel()
		<-done
	}
}

// TestSilentKDC checks the time in which a KDC must answer.
func TestSilentKDC(t *testing.T) {
	config := filepath.Join(t.TempDir(), "krb5.conf")
	if err := os.WriteFile(config, []byte("[libdefaults]\n default_realm = R\n[realms]\n R = {\n  kdc = a.test\n  kdc = b.test\n }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, serve := range map[string]func(net.Conn){
		"silent":        func(c net.Conn) { c.Read(make([]byte, 4096)) },
		"reads nothing": func(net.Conn) {},
		"slow": func(c net.Conn) {
			c.Read(make([]byte, 4096))
			for _, err := c.Write([]byte{0, 0, 0xff, 0xff}); err == nil; _, err = c.Write([]byte{0x7e}) {
				time.Sleep(time.Second)
			}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			a, err := New(Options{Config: config})
			if err != nil {
				t.Fatal(err)
			}
			var serving sync.WaitGroup
			dial := func(context.Context, string) (net.Conn, error) {
				c, server := net.Pipe()
				serving.Go(func() { serve(server) })
				return c, nil
			}
			start := time.Now()
			_, err = a.Token(t.Context(), dial, "host.test", &fetch.Credential{User: "alice", Password: "secret"})
			if used := time.Since(start); err == nil || used > 2*kdcTime {
				t.Errorf("%s: %v, %v", name, used, err)
			}
			serving.Wait()
		})
	}
}
