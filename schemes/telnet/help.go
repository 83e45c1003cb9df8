package telnet

// help documents telnet, rlogin and tn3270 URLs.
const help = `telnet://[USER@]HOST[:PORT]/   rlogin://...   tn3270://...   RFC 4248

A session. On a terminal it is interactive, and Control-] ends it; in a pipe
standard input is sent to the peer and its output is written to standard output,
byte for byte. fetch sends no part of the URL as input.
A session ends when its peer closes. The end of standard input does not end it,
because most servers would hang up at once, before they answer. For a peer that
does not close by itself there are --idle SECONDS, a success, and --max-time
SECONDS, a failure:
  printf 'date\nexit\n' | fetch --idle 5 telnet://HOST:PORT/
rlogin needs a local port below 1024, which most systems give to root alone.
tn3270 is no session: it prints the first screen, as text or with --screen json.
Flags: --idle --terminal --screen --code-page.`
