package whois

// help is the help text about whois URLs.
const help = `whois://HOST[:PORT]/QUERY   whois:QUERY   RFC 3912

The record of a domain, an address or another name. A referral to another server
is followed like a redirect; --no-location prints the referral. Without a host,
the query starts at whois.iana.org. QUERY is sent without changes, so that it can
have options of the server: whois://whois.denic.de/-T%20dn%20example.de.
The server of a registrar is printed with -v and not queried.
fetch search --native whois://HOST WORDS sends WORDS and prints the record.`
