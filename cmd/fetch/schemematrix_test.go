package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes"
)

// The declarations of the schemes do not contain these facts. The tests of each
// scheme check them.
var (
	resumable  = []string{"http", "https", "dav", "davs", "s3", "ipfs", "ftp", "ftps", "sftp", "scp", "smb", "nfs", "file", "afs", "imap", "imaps", "wais", "z39.50r"}
	upgradable = []string{"ftp", "imap", "pop", "pop3", "news", "nntp", "ldap", "x500"} // to TLS, by a command
	overUDP    = []string{"tftp", "prospero"}
	logins     = map[string]string{
		"http": "password, Kerberos, certificate", "https": "password, Kerberos, certificate", "dav": "password, Kerberos, certificate", "davs": "password, Kerberos, certificate",
		"s3": "access key", "ftp": "password", "ftps": "password", "sftp": "key, password", "scp": "key, password", "imap": "password", "imaps": "password",
		"pop": "password", "pops": "password", "pop3": "password", "pop3s": "password", "news": "password", "nntp": "password", "snews": "password", "nntps": "password",
		"ldap": "password", "ldaps": "password", "x500": "password", "rsync": "password", "smb": "password", "dict": "password", "z39.50r": "password", "z39.50s": "password",
		"gemini": "certificate", "telnet": "in the session", "rlogin": "in the session", "tn3270": "in the session", "nfs": "user and group number",
	}
)

// TestSchemeMatrix checks that doc/schemes.md has the table that follows from the
// declarations of the schemes.
func TestSchemeMatrix(t *testing.T) {
	page, err := os.ReadFile("../../doc/schemes.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{} // names of the schemes with the same row
	var order []string
	for _, s := range schemes.All(schemes.Options{}) {
		if s.Open == nil {
			continue
		}
		login := logins[s.Name]
		if login == "" {
			login = "-"
		}
		row := strings.Join([]string{
			yes(s.Menu != nil), yes(s.Query != nil), yes(slices.Contains(resumable, s.Name)), archiving(s), record(s), proxy(s), tlsUse(s), login,
		}, " | ")
		if rows[row] == nil {
			order = append(order, row)
		}
		rows[row] = append(rows[row], "`"+s.Name+"`")
	}
	var table strings.Builder
	for _, row := range order {
		fmt.Fprintf(&table, "| %s | %s |\n", strings.Join(rows[row], ", "), row)
	}
	if !strings.Contains(string(page), table.String()) {
		t.Errorf("doc/schemes.md lacks this table:\n%s", &table)
	}
}

func yes(ok bool) string {
	if ok {
		return "yes"
	}
	return "-"
}

// archiving describes how a mirror archives the scheme.
func archiving(s fetch.Scheme) string {
	switch {
	case s.Traits.Session:
		return "-"
	case s.Mirror.Alias:
		return "as its target"
	}
	return "yes"
}

// record describes the WARC records of an exchange.
func record(s fetch.Scheme) string {
	switch {
	case s.Traits.Session || s.Mirror.Alias:
		return "-"
	case s.Traits.Web:
		return "request, response"
	}
	return map[scheme.Recording]string{
		scheme.RecordPlan: "object, plan", scheme.RecordWire: "object, all bytes", scheme.RecordLines: "object, commands, replies",
		scheme.RecordReplies: "object, commands, first lines of replies", scheme.RecordSent: "object, commands",
	}[s.Mirror.Record]
}

// proxy describes which proxies of the environment apply to the scheme.
func proxy(s fetch.Scheme) string {
	switch {
	case s.Port == 0 || slices.Contains(overUDP, s.Name):
		return "-"
	case s.Traits.Web || s.Proxy == scheme.ByRequest:
		return "requests, tunnel"
	case s.Proxy == scheme.ByDriver:
		return "tunnel"
	}
	return "tunnel, gateway"
}

func tlsUse(s fetch.Scheme) string {
	switch {
	case s.Secure && s.Traits.UserKeys:
		return "SSH"
	case s.Secure:
		return "always"
	case slices.Contains(upgradable, s.Name):
		return "upgrade"
	}
	return "-"
}
