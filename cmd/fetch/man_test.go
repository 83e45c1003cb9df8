package main

import (
	"testing"

	"github.com/spf13/cobra"
)

// TestManPage compares a page with what man(7) asks for.
func TestManPage(t *testing.T) {
	root := &cobra.Command{Use: "fetch"}
	c := &cobra.Command{
		Use: "copy [flags] <URL>...", Short: "Copy URLs", Run: func(*cobra.Command, []string) {},
		Long:    "copy reads C:\\dir.\n\n.hidden files too:\n  copy -n <A>",
		Example: "  fetch copy http://example.org/",
	}
	root.AddCommand(c)
	root.PersistentFlags().Bool("silent", false, "print no messages")
	c.Flags().StringP("output", "o", "", "write to `FILE`")
	c.Flags().IntP("retry", "r", 3, "retry `N` times")
	c.Flags().Bool("dry-run", false, "send nothing")
	c.Flags().Bool("secret", false, "an option that is not shown")
	c.Flags().MarkHidden("secret")
	const want = `.TH "FETCH\-COPY" 1 "" "fetch dev" "User Commands"
.SH NAME
fetch\-copy \- Copy URLs
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
.TP
\fB\-\-dry\-run\fR
send nothing
.TP
\fB\-o\fR, \fB\-\-output\fR \fIFILE\fR
write to FILE
.TP
\fB\-r\fR, \fB\-\-retry\fR \fIN\fR
retry N times (default 3)
.SH OPTIONS OF FETCH
Options about connections, proxies, logins and limits are described in fetch(1).
.B fetch copy \-\-help
lists those that apply.
.SH EXAMPLES
.nf
  fetch copy http://example.org/
.fi
.SH SEE ALSO
\fBfetch\fR(1)
`
	if got := manPage(c); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
