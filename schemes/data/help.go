package data

// help is the help text about data URLs.
const help = `data:[TYPE][;base64],DATA   RFC 2397

The object in the URL itself, which uses no network. Without a TYPE, the object is
a text in US-ASCII. A URL has at most 64 KiB. Only the user may enter data URLs:
links and redirects to them are denied.`
