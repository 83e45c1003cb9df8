package sessions

import (
	"context"
	"errors"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
)

// TestLogin tests which credential a request uses, and which user the prompt
// suggests.
func TestLogin(t *testing.T) {
	failed := errors.New("the prompt failed")
	alice := fetch.Credential{User: "alice", Password: "a"}
	for _, c := range []struct {
		name   string
		auth   *fetch.Credential // of the URL
		answer *fetch.Credential // of the prompt
		failed error             // of the prompt
		asked  string            // suggested user, or "no" without a prompt
		find   *fetch.Credential // result of FindPassword
		want   error
	}{
		{name: "anonymous, and no answer"},
		{name: "anonymous, and an answer", answer: &alice, find: &alice},
		{name: "anonymous, and the prompt fails", failed: failed, want: failed},
		{name: "a password", auth: &alice, answer: &fetch.Credential{Password: "b"}, asked: "no", find: &alice},
		{name: "a token without a user", auth: &fetch.Credential{Token: "t"}, answer: &alice, asked: "no", find: &fetch.Credential{Token: "t"}},
		{name: "an empty password, and an answer", auth: &fetch.Credential{User: "alice"}, answer: &alice, asked: "alice", find: &alice},
		{name: "an empty password, and no answer", auth: &fetch.Credential{User: "alice"}, asked: "alice", find: &fetch.Credential{User: "alice"}},
		{name: "an empty password, and the answer is for another user", auth: &fetch.Credential{User: "alice"},
			answer: &fetch.Credential{User: "bob", Password: "b"}, asked: "alice", find: &fetch.Credential{User: "alice"}},
		{name: "a missing password, and an answer", auth: &fetch.Credential{User: "alice", Incomplete: true}, answer: &alice, asked: "alice", find: &alice},
		{name: "a missing password, and no answer", auth: &fetch.Credential{User: "alice", Incomplete: true}, asked: "alice", want: fetch.Auth},
		{name: "a missing password, and the prompt fails", auth: &fetch.Credential{User: "alice", Incomplete: true}, failed: failed, asked: "alice", want: failed},
		{name: "a missing password, and the answer is for another user", auth: &fetch.Credential{User: "alice", Incomplete: true},
			answer: &fetch.Credential{User: "bob", Password: "b"}, asked: "alice", want: fetch.Auth},
		{name: "a missing password, and the answer has no user", auth: &fetch.Credential{User: "alice", Incomplete: true},
			answer: &fetch.Credential{Password: "a"}, asked: "alice", find: &alice},
		{name: "a missing password, and the answer has an account", auth: &fetch.Credential{User: "alice", Incomplete: true},
			answer: &fetch.Credential{Password: "a", Account: "x"}, asked: "alice", find: &fetch.Credential{User: "alice", Password: "a", Account: "x"}},
		{name: "a missing password, an account, and the answer has another account", auth: &fetch.Credential{User: "alice", Account: "x", Incomplete: true},
			answer: &fetch.Credential{Password: "a", Account: "y"}, asked: "alice", find: &fetch.Credential{User: "alice", Password: "a", Account: "x"}},
	} {
		asked := "no"
		login := func(_ context.Context, ch fetch.Challenge) (*fetch.Credential, error) {
			asked = ch.User
			return c.answer, c.failed
		}
		got, err := FindPassword(t.Context(), login, c.auth, fetch.Challenge{})
		if !errors.Is(err, c.want) || asked != c.asked {
			t.Errorf("%s: got %v, want %v; asked for %q, want %q", c.name, err, c.want, asked, c.asked)
		}
		if (got == nil) != (c.find == nil) || got != nil && *got != *c.find {
			t.Errorf("%s: got another credential: %v", c.name, got)
		}
	}
}

// TestNeedLogin tests which errors suggest a login.
func TestNeedLogin(t *testing.T) {
	for fault, want := range map[fetch.Fault]override.Setting{fetch.Auth: {Kind: override.Login}, fetch.NotFound: {}} {
		err := NeedLogin(fault, fault.Errorf("rejected"))
		if got := override.Of(err); got != want || fetch.FaultOf(err) != fault {
			t.Errorf("%v: got %v with the setting %v, want %v", fault, err, got, want)
		}
	}
}
