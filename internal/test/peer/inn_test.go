package peer_test

import (
	"crypto/tls"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

const article = `Path: elsewhere.example.org!not-for-mail
From: Alice <alice@example.org>
Newsgroups: local.test
Subject: first
Date: Mon, 01 Jan 2024 00:00:00 +0000
Message-ID: <1@example.org>

.a line with a dot
`

func TestINN(t *testing.T) {
	t.Parallel()
	s := peer.INN(t, peer.INNOptions{TLS: true})
	s.Feed(article)
	conn := dial(t, s.Addr)
	got := talk(t, conn, "GROUP local.test", "OVER 1")
	if len(got) != 3 || !strings.HasPrefix(got[0], "20") || got[1] != "211 1 1 1 local.test" || !strings.HasPrefix(got[2], "224 ") {
		t.Errorf("GROUP, OVER: %q", got)
	}
	got = talk(t, dial(t, s.Addr), "AUTHINFO USER "+peer.User, "AUTHINFO PASS "+peer.Password, "POST")
	if want := []string{"381", "281", "340"}; !slices.Equal(codes(got[1:]), want) {
		t.Errorf("login and POST: %q, want %v", got, want)
	}
	config := &tls.Config{RootCAs: s.Cert.Pool, ServerName: "localhost"}
	got = talk(t, tls.Client(dial(t, s.TLSAddr), config), "STAT <1@example.org>")
	if want := "223 0 <1@example.org>"; !strings.HasPrefix(got[1], want) {
		t.Errorf("STAT over TLS: %q, want %q", got, want)
	}
	if got := talk(t, dial(t, s.Addr), "STARTTLS"); codes(got)[1] != "382" {
		t.Errorf("STARTTLS: %q, want 382", got)
	}
}

func TestINNLogin(t *testing.T) {
	t.Parallel()
	s := peer.INN(t, peer.INNOptions{Login: true, Groups: []string{"a.b", "a.c"}})
	got := talk(t, dial(t, s.Addr), "GROUP a.c", "AUTHINFO USER "+peer.User, "AUTHINFO PASS wrong",
		"AUTHINFO USER "+peer.User, "AUTHINFO PASS "+peer.Password, "GROUP a.c")
	if want := []string{"480", "381", "481", "381", "281", "211"}; !slices.Equal(codes(got[1:]), want) {
		t.Errorf("got %q, want %v", got, want)
	}
}

func TestLeafnode(t *testing.T) {
	t.Parallel()
	inn := peer.INN(t, peer.INNOptions{})
	inn.Feed(article)
	s := peer.Leafnode(t, inn, "local.test")
	got := talk(t, dial(t, s.Addr), "CAPABILITIES", "GROUP local.test", "STAT <1@example.org>", "STAT 99")
	if want := []string{"200", "500", "211", "223", "430"}; !slices.Equal(codes(got), want) {
		t.Errorf("got %q, want %v", got, want)
	}
}

func codes(replies []string) []string {
	var codes []string
	for _, r := range replies {
		code, _, _ := strings.Cut(r, " ")
		codes = append(codes, code)
	}
	return codes
}
