package ldap

// help is the help text about ldap, ldaps and x500 URLs.
const help = `ldap://HOST[:PORT]/DN[?ATTRIBUTES[?SCOPE[?FILTER[?EXTENSIONS]]]]   RFC 4516
ldaps://HOST[:PORT]/DN...   x500://HOST[:PORT]/DN...

Retrieves entries as LDIF. SCOPE is base (the entry DN, the default), one (the
entries directly below it) or sub (all entries from DN on): fetch ls
'ldap://HOST/dc=example,dc=org??one'. Without DN, fetch ls lists the directories
of the server. fetch search ldap://HOST/DN WORDS finds entries by name, mail
address or user id; words that begin with "(" are an LDAP filter. --user
DN:PASSWORD logs in, --ssl and --ssl-reqd use StartTLS. x500 is another name of
ldap, and its DN may be written from the root: x500://HOST/c=GB/o=Example.`
