package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// schemeHelp says of each scheme what its URLs mean and which flags are its
// own.
var schemeHelp = map[string]string{
	"http": `http://HOST[:PORT]/PATH[?QUERY]        the World Wide Web: RFC 9110, 9112, 9113

The object is what GET brings. Redirects are followed (--no-location shows
them), from https to http only with --allow-downgrade. fetch ls reads the
directory pages of servers and sitemaps.
Flags: -H -A -e -b -c --compressed --digest --anyauth -z --etag-compare -J
--http1.0 --http0.9 --tolerant, and those of TLS: -k --cacert --cert.`,
	"ftp": `ftp://[USER:PASSWORD@]HOST[:PORT]/DIR/DIR/FILE[;type=a|i|d]   RFC 1738 3.2

A CWD for each DIR, then RETR: the path begins where the login leads. A path
that begins with %2F begins at the root. A URL that ends in / or ;type=d is a
listing. Lines of listings and texts end in LF; --raw leaves the CR LF that the
server sent. Without a user, the user is anonymous.
Flags: -B --ftp-method -P --disable-epsv --ssl --ssl-reqd -l --ftp-account.`,
	"gopher": `gopher://HOST[:PORT]/TSELECTOR[%09WORDS[%09PLUS]]   RFC 4266, RFC 1738 3.4

T is one character: 0 text, 1 menu, 2 phone book, 7 index, 9 binary, g image, h
page. No path is the menu of the server. An index wants words: fetch search URL
WORDS. gophers is the same under TLS.
PLUS is of Gopher+: + the item, +VIEW a view of it, ! its attributes, $ those of
all in a menu, ? the item behind its form, which a person alone may send.
Flags: --view TYPE, --lang LANGUAGE: one of the views. --ask NAME=VALUE: an answer
to the form; what is not given is asked for. --strict: a text without its last
line, a dot, is truncated. --robots.`,
	"file": `file:///PATH        the files of this machine: RFC 8089

A directory is the names in it; fetch ls tells more. Devices and pipes are
refused, and so is a host other than localhost.`,
	"news": `news:MESSAGE-ID   news:GROUP   news:*   news://HOST/...   nntp://HOST/GROUP/NUMBER   RFC 5538

An article is brought byte for byte; a group is a listing of its articles; * is
the list of groups. Where the URL names no host, --news-server or NNTPSERVER
does. snews and nntps are the same under TLS. HOST/GROUP/7-20 is a range of
articles, GROUP/7- has no end.
Flags: --headers, --body, --mbox, --maildir DIR, --part N, --decode: articles in
other forms. --state FILE, --since-article N: only what is new; -z DATE: what
came to the server since. With fetch ls, --field NAME: one header of each
article; --describe: what groups are about. --compressed, --ssl, --ssl-reqd.`,
	"wais": `wais://HOST[:PORT]/DATABASE[?WORDS]   wais://HOST/DATABASE/TYPE/ID   RFC 4156, RFC 1738 3.9

A database is an index: fetch search URL WORDS lists the documents found, whose
URLs bring them. --like URL finds documents like one. A search asks for 40
documents, or N with --max N, and says when it found that many; fetch mirror
takes all. fetch info tells what a database is, and fetch search wais://HOST/ WORDS
which there are. A gateway serves as well: wais_proxy, or --gateway wais=URL; its
answer is a page of its own, which fetch 'wais://HOST/DATABASE?WORDS' brings.`,
	"imap": `imap://USER@HOST/MAILBOX[;UIDVALIDITY=N]/;UID=N[/;SECTION=S]   RFC 5092

A message, or a part of one, is brought without being marked as read; a mailbox
is a listing; ?CRITERIA searches it. --mbox and --maildir bring the messages of
either. imaps is the same under TLS. Without a user the login is anonymous;
USER;AUTH=MECHANISM says how to log in. /;PARTIAL=FIRST.LENGTH at the end brings
some bytes of a message or a part.
Where a server refuses a mechanism, the next one is tried, but no password is
sent in plaintext after a refusal. --sasl names the mechanism, or * allows any.
Where the server offers encryption, a login goes by it or not at all.
Flags: --ssl --ssl-reqd --sasl --mbox --maildir -r, and those of TLS.`,
	"mid": `mid:MESSAGE-ID[/CONTENT-ID]   cid:CONTENT-ID   mailto:ADDRESS   RFC 2392, RFC 6068

Looked up in the mail stores of the configuration (--mail-store): an imap URL, a
Maildir or an mbox. With a CONTENT-ID it is that part of the message, decoded;
cid is a part of the message of --in URL. mailto is a listing of the messages to
or from that address, or with --mbox or --maildir themselves; nothing is ever
sent.`,
	"telnet": `telnet://[USER@]HOST[:PORT]/   rlogin://...   tn3270://...   RFC 4248

A session. On a terminal it is an interactive one, which Control-] leaves; in a
pipe standard input goes to the peer and what it says to standard output, byte
for byte. Nothing of the URL is typed for you.
A session ends when its peer closes. The end of standard input does not end it:
most servers would hang up at once, their answer unsaid. For a peer that does not
close by itself there are --idle SECONDS, a success, and --max-time SECONDS, a
failure:
  printf 'date\nexit\n' | fetch --idle 5 telnet://HOST:PORT/
rlogin needs a port of ours below 1024, which most systems give to root alone.
tn3270 is no session: it brings the first screen, as text or with --screen json.
Flags: --idle --terminal --screen --code-page.`,
	"prospero": `prospero://HOST[:PORT]/NAME[;FIELD=VALUE]   RFC 4157, RFC 1738 3.11

A directory is a listing of links; a file is brought from the server itself, or
from where it says that the file is: by ftp, gopher, http or wais, each at its
own port. fetch search prospero://HOST/ NAME asks archie; --match exact, part,
case or regexp says how, --max N for how many. //NAME is a name that begins with
a slash. All of it is UDP: no proxy serves, and another port than 1525 or 191
wants --allow-port prospero:PORT.`,
}

// sameHelp are the schemes that another's help is about too.
var sameHelp = map[string]string{
	"https": "http", "ftps": "ftp", "gophers": "gopher", "nntp": "news", "snews": "news", "nntps": "news",
	"imaps": "imap", "cid": "mid", "mailto": "mid", "rlogin": "telnet", "tn3270": "telnet",
}

// help is cobra's help, for schemes too.
func (a *app) help(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | SCHEME]",
		Short: "Tell of a command, or what the URLs of a scheme mean",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return root.Help()
			}
			name := strings.TrimRight(strings.ToLower(args[0]), ":/")
			if same, ok := sameHelp[name]; ok {
				name = same
			}
			if text, ok := schemeHelp[name]; ok {
				return a.print(text)
			}
			if what, ok := fetch.ReservedScheme(name); ok {
				return a.print(fmt.Sprintf("%s: %s.\nfetch does not speak it; --gateway %s=URL asks a server that does.", name, what, name))
			}
			c, _, err := root.Find(args)
			if err != nil || c == root {
				return fetch.Usage.Errorf("neither a command nor a scheme: %q", args[0])
			}
			return c.Help()
		},
	}
}

// man writes the manual pages, for packages.
func (a *app) man(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIRECTORY",
		Short: "Write the manual pages",
		Long:  "man writes the manual pages into a directory, which is made if it is not there.",
		Args:  exactly(1, "a directory"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fetch.Local.With(err)
			}
			header := &doc.GenManHeader{Title: "FETCH", Section: "1", Source: "fetch " + version, Manual: "fetch"}
			return fetch.Local.With(doc.GenManTree(root, header, args[0]))
		},
	}
}

// print writes one line of text.
func (a *app) print(text string) error {
	_, err := fmt.Fprintln(a.stdout, text)
	return local(err)
}

func (j *job) print(text string) error {
	_, err := io.WriteString(j.stdout, text+"\n")
	return local(err)
}
