package whoispp

// help is the help text about whois++ URLs.
const help = `whois++://HOST[:PORT]/QUERY   RFC 1835

The records that match a query, such as name=ada or template=user;name=ada, or the
record with a handle. If the server sends handles of records or referrals to other
servers, fetch ls lists their URLs; they are not followed. fetch --native prints the
answer itself.
fetch search whois++://HOST WORDS sends WORDS.`
