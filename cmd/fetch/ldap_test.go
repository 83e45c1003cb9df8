package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestLDAP retrieves, lists, searches and mirrors the entries of slapd.
func TestLDAP(t *testing.T) {
	s := peer.Slapd(t, peer.SlapdOptions{TLS: true, LDIF: "dn: dc=example,dc=org\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: Example\n\n" +
		"dn: uid=alice,dc=example,dc=org\nobjectClass: inetOrgPerson\nuid: alice\ncn: Alice\nsn: Whale\nuserPassword: pw\n"})
	url := "ldap://" + s.Addr + "/"
	alice := url + "uid=alice,dc=example,dc=org"
	if got, want := runFetch(t, 0, alice+"?sn"), "version: 1\n\ndn: uid=alice,dc=example,dc=org\nsn: Whale\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := runFetch(t, 0, "ls", "--urls", url); got != url+"dc=example,dc=org??one\n" {
		t.Errorf("root: got %q", got)
	}
	if got := runFetch(t, 0, "ls", "--urls", url+"dc=example,dc=org??one"); got != alice+"\n" {
		t.Errorf("list: got %q", got)
	}
	if got := runFetch(t, 0, "search", "--urls", url+"dc=example,dc=org", "whale"); got != alice+"\n" {
		t.Errorf("search: got %q", got)
	}
	localhost := strings.Replace(s.Addr, "127.0.0.1", "localhost", 1)
	contains(t, runFetch(t, 0, "--ssl-reqd", "--cacert", s.Cert.File, "-v", "ldap://"+localhost+"/dc=example,dc=org"), "o: Example\n")
	contains(t, runFetch(t, 0, "--cacert", s.Cert.File, "ldaps://"+strings.Replace(s.TLSAddr, "127.0.0.1", "localhost", 1)+"/dc=example,dc=org"), "o: Example\n")
	contains(t, runFetch(t, 0, "x500://"+s.Addr+"/dc=org/dc=example"), "o: Example\n")
	contains(t, runFetch(t, 0, "-u", peer.LDAPUser+":"+peer.Password, alice), "sn: Whale\n")
	contains(t, runFetch(t, 0, "info", alice), `"kind":"document"`, `"media":"text/x-ldif"`)
	contains(t, runFetch(t, 0, "help", "x500"), "RFC 4516")
	runFetch(t, 6, "-u", peer.LDAPUser+":wrong", alice)
	runFetch(t, 5, "--ssl-reqd", "ldap://"+localhost+"/dc=example,dc=org")
	runFetch(t, 8, url+"dc=com")
	runFetch(t, 2, url+"no name")
	runFetch(t, 2, "x500:c=GB/o=Example")

	dir := filepath.Join(t.TempDir(), "archive")
	runFetch(t, 0, "mirror", "--warc", "--output-dir", dir, url+"dc=example,dc=org??sub")
	var entries int
	filepath.WalkDir(filepath.Join(dir, "tree"), func(path string, d os.DirEntry, err error) error {
		if text, _ := os.ReadFile(path); strings.HasPrefix(string(text), "version: 1\n\ndn: ") && strings.Count(string(text), "dn: ") == 1 {
			entries++
		}
		return err
	})
	if warcs, _ := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz")); entries != 2 || len(warcs) == 0 {
		t.Errorf("the mirror has %d entries, and the WARC files %v", entries, warcs)
	}
	runFetch(t, 0, "verify", dir)
	contains(t, runFetch(t, 0, "--archive", dir, alice), "sn: Whale\n")
	contains(t, runFetch(t, 0, "ls", "--urls", "--archive", dir, url+"dc=example,dc=org??sub"), alice+"\n")
}
