package nntp

// help is the manual text of news, nntp, snews and nntps URLs.
const help = `news:MESSAGE-ID   news:GROUP   news:*   news://HOST/...   nntp://HOST/GROUP/NUMBER   RFC 5538

fetch retrieves an article byte for byte. The URL of a group returns a listing
of its articles, and * returns a listing of all groups. A URL without a host
uses the server of --news-server or NNTPSERVER. snews and nntps use TLS from the
start. HOST/GROUP/7-20 is a range of articles, and HOST/GROUP/7- is a range
without an end. --headers and --body select a part of each article. --state FILE
and --since-article N select new articles, and -z DATE selects articles that
reached the server after DATE. With fetch ls, --field NAME lists one header
field of each article, and --describe lists the descriptions of groups.
Flags: --mbox --maildir --part --decode --compressed, and the TLS flags --ssl
and --ssl-reqd.`
