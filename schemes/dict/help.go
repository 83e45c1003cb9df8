package dict

// help is the help text about dict URLs.
const help = `dict://HOST[:PORT]/d:WORD[:DATABASE[:N]]             RFC 2229
dict://HOST[:PORT]/m:WORD[:DATABASE[:STRATEGY[:N]]]

d: fetches the definitions of a word, m: the list of the words that match it.
DATABASE is ! for the first database with the word (the default), or * for all
databases. STRATEGY is . for the default of the server, or a name such as exact
or prefix. N selects one definition or match. Write : in a word as %3A.
dict://HOST/ lists the databases. show:strat lists the strategies, show:info:DATABASE
describes a database, and show:server, status and help describe the server.
fetch search dict://HOST/ WORD matches a word in all databases, and
fetch search dict://HOST/d::DATABASE WORD in one database.
The password for a server with users comes from the URL or from .netrc.`
