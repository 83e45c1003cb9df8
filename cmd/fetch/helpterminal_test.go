//go:build linux

package main_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestHelpTerminal checks the pages of fetch help on a terminal: styles, the
// pager for long pages, and the topic that an error names.
func TestHelpTerminal(t *testing.T) {
	fetch := commandtest.Fetch(t)
	for _, c := range []struct {
		oddity, command, want, not string
	}{
		{"heading and code have styles", "PAGER= $F help rsync-servers", "\x1b[1mrsync\x1b[0m \x1b[1mservers\x1b[0m", "`"},
		{"no styles", "NO_COLOR=1 PAGER= $F help rsync-servers", "rsync servers\r\n====", "\x1b"},
		{"long page in the pager", "PAGER='sed s/Policy/Paged/' $F help policy", "Paged", "Policy and safety"},
		{"short page without a pager", "PAGER='sed s/rsync/paged/' $F help cid", "cid:CONTENT-ID", "paged"},
		{"pager with the options of the user", "PAGER='env' LESS=Q $F help policy", "LESS=Q\r\n", "LESS=FRX"},
		{"missing pager", "PAGER=/no/such/pager $F help policy", "$PAGER", "Policy and safety"},
		{"pipe", "PAGER=false $F help policy | cat", "Policy and safety\r\n====", "\x1b"},
		{"topic of an error", "$F -q --checksum a -r 0-9 file:///", "fetch: more: fetch help verify-downloads\r\n", ""},
		{"topic of an override", "$F -q http://127.0.0.1:25/", "fetch: to allow it: --allow-port http:25\r\nfetch: more: fetch help policy\r\n", ""},
		{"error in a log names no topic", "$F -q http://127.0.0.1:25/ 2>&1 | cat", "--allow-port http:25\r\n", "fetch help"},
		{"error without a flag", "$F -q file:///no/such/file", "no such file", "fetch help"},
	} {
		t.Run(c.oddity, func(t *testing.T) {
			shell := exec.Command("/bin/sh", "-c", strings.ReplaceAll(c.command, "$F", fetch)+"; true")
			shell.Env = append(os.Environ(), "TERM=xterm", "LESS=")
			got := onTerminal(t, shell)
			if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("got %q, want %q and not %q", got, c.want, c.not)
			}
		})
	}
}
