package prospero

// help is the help text about prospero URLs.
const help = `prospero://HOST[:PORT]/NAME[;FIELD=VALUE]   RFC 4157, RFC 1738 3.11

A directory is a listing of links; a file is retrieved from the server itself, or
from the server that it names: by ftp, gopher, http or wais, each at its own
port. fetch search prospero://HOST/ NAME searches archie; --match exact, part,
case or regexp selects how, --max N how many. //NAME is a name that begins with
a slash. All requests use UDP: no proxy serves, and ports other than 1525 and 191
need --allow-port prospero:PORT.`
