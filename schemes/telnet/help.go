package telnet

// help is the manual text of telnet, rlogin and tn3270 URLs.
const help = `telnet://[USER@]HOST[:PORT]/   rlogin://...   tn3270://...   RFC 4248

A session. On a terminal the session is interactive, and Control-] ends it. In a
pipe, standard input is sent to the server and the output of the server is
written to standard output without changes. No part of the URL is sent as input.
A session ends when the server closes the connection. The end of standard input
does not end the session, because most servers would close the connection before
they respond. For a server that does not close the connection, use --idle SECONDS
(exit code 0) or --max-time SECONDS (an error):
  printf 'date\nexit\n' | fetch --idle 5 telnet://HOST:PORT/
rlogin requires a local port below 1024, which most systems reserve for root.
tn3270 is not a session: it prints the first screen, as text or with --screen json.
Flags: --idle --terminal --screen --code-page.`
