package wais

// help is the help text about wais URLs.
const help = `wais://HOST[:PORT]/DATABASE[?WORDS]   wais://HOST/DATABASE/TYPE/ID   RFC 4156, RFC 1738 3.9

A database is an index: fetch search URL WORDS lists the documents found, with
their URLs. --like URL finds documents that resemble one. A search requests 40
documents, or N with --max N, and reports if it found that many; fetch mirror
retrieves all. fetch info describes a database, and fetch search wais://HOST/
WORDS lists databases. A gateway serves as well: wais_proxy, or --gateway
wais=URL; its answer is an HTML page: fetch 'wais://HOST/DATABASE?WORDS'.`
