package nntp

// help documents news, nntp, snews and nntps URLs.
const help = `news:MESSAGE-ID   news:GROUP   news:*   news://HOST/...   nntp://HOST/GROUP/NUMBER   RFC 5538

An article is retrieved byte for byte; a group is a listing of its articles; *
is the list of groups. If the URL names no host, the server is that of
--news-server or NNTPSERVER. snews and nntps are the same under TLS.
HOST/GROUP/7-20 is a range of articles, GROUP/7- has no end.
Flags: --headers, --body, --mbox, --maildir DIR, --part N, --decode: articles in
other forms. --state FILE, --since-article N: new articles only; -z DATE:
articles that reached the server after DATE. With fetch ls, --field NAME: one
header of each article; --describe: the descriptions of groups. --compressed,
--ssl, --ssl-reqd.`
