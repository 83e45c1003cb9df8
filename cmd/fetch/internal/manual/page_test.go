package manual

import (
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/spf13/cobra"
)

// newCommand returns a command that has own flags and shared flags.
func newCommand() (*cobra.Command, *options.Set) {
	root := &cobra.Command{Use: "fetch"}
	c := &cobra.Command{
		Use: "copy [flags] <URL>...", Short: "Copy URLs", Run: func(*cobra.Command, []string) {},
		Long:    "copy reads C:\\dir.\n\n.hidden files too:\n  copy -n <A>",
		Example: "  fetch copy http://example.org/",
		Annotations: map[string]string{
			ExitStatus:  "0\tok\n8\tthe server reports an error\n",
			Environment: "HOME\tthe home directory\n",
			Files:       "~/.netrc\tpasswords\n",
		},
	}
	root.AddCommand(c)
	var set options.Set
	set.Section("Messages").Bool("silent", false, "print no messages")
	p := set.Own("Copying")
	p.StringP("output", "o", "", "write to `FILE`")
	p.IntP("retry", "r", 3, "retry up to `N` times")
	p.Int("limit", 5, "`ONE:TWO`: use at most ONE (0: no limit)")
	p.Bool("dry-run", false, "send no requests")
	p.Bool("secret", false, "an option that is not shown")
	p.MarkHidden("secret")
	set.AddTo(c.Flags())
	return c, &set
}

// TestPage checks the text of a manual page.
func TestPage(t *testing.T) {
	c, set := newCommand()
	const want = `.TH "FETCH\-COPY" 1 "" "fetch dev" "User Commands"
.nh
.ad l
.SH NAME
fetch\-copy \- copy URLs
.SH SYNOPSIS
.B fetch copy
[flags] <URL>...
.SH DESCRIPTION
copy reads C:\edir.
.PP
\&.hidden files too:
.nf
  copy \-n <A>
.fi
.SH OPTIONS
.SS Copying
.TP
\fB\-o\fR, \fB\-\-output\fR \fIFILE\fR
Write to FILE.
.TP
\fB\-r\fR, \fB\-\-retry\fR \fIN\fR
Retry up to N times (default 3).
.TP
\fB\-\-limit\fR \fIONE:TWO\fR
Use at most ONE (0: no limit; default 5).
.TP
\fB\-\-dry\-run\fR
Send no requests.
.SS Options of fetch(1)
fetch copy also has these options, which are described in
.BR fetch (1):
\fB\-\-silent\fR.
.SH EXIT STATUS
.TP
\fB0\fR
Ok.
.TP
\fB8\fR
The server reports an error.
.SH ENVIRONMENT
.TP
\fBHOME\fR
The home directory.
.SH FILES
.TP
\fB~/.netrc\fR
Passwords.
.SH EXAMPLES
.nf
  fetch copy http://example.org/
.fi
.SH SEE ALSO
\fBfetch\fR(1)
`
	p := Pages{Version: "dev", Set: func(*cobra.Command) *options.Set { return set }}
	if got := p.Page(c); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestUsage checks the groups of flags, the default values and the width of a
// help text.
func TestUsage(t *testing.T) {
	c, set := newCommand()
	set.Own("Copying").String("a-flag-with-a-very-long-name", "",
		"a description that is so long that it does not fit into `ONE` line of the help text")
	const want = `Usage:
  fetch copy [flags] <URL>...

Copying:
  -o, --output FILE    write to FILE
  -r, --retry N        retry up to N times (default 3)
      --limit ONE:TWO  use at most ONE (0: no limit; default 5)
      --dry-run        send no requests
      --a-flag-with-a-very-long-name ONE
                       a description that is so long that it does not fit into ONE line of the help
                       text

Other flags, described by fetch --help:
  Messages: --silent

Examples:
  fetch copy http://example.org/

Exit codes: 0 ok; 8 the server reports an error.
`
	if got := Usage(c, set, false, maxColumns); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
