package http

// help is the help text for http and https URLs.
const help = `http://HOST[:PORT]/PATH[?QUERY]        the World Wide Web: RFC 9110, 9112, 9113, 9114

fetch sends GET and follows redirects (--no-location prints them). It follows a
redirect from https to http only with --allow-downgrade. fetch ls reads sitemaps
and the directory listings that web servers generate.
Flags: -H -A -e -b -c --compressed --digest --anyauth --negotiate --http3 --hsts -z --etag-compare -J
--http1.0 --http0.9 --tolerant, and the TLS flags: -k --cacert --cert.`

// davHelp is the help text about dav and davs URLs.
const davHelp = `dav://HOST[:PORT]/PATH, davs://...   files of WebDAV servers

dav uses http, and davs uses https. The URL of a collection ends in "/": fetch ls
lists it with PROPFIND and Depth 1. Files are retrieved as with http, with ranges
and resume. fetch ls --dav lists an http or https URL in this way.`
