package http

// help documents http and https URLs.
const help = `http://HOST[:PORT]/PATH[?QUERY]        the World Wide Web: RFC 9110, 9112, 9113

fetch sends GET. Redirects are followed (--no-location prints them), from https
to http only with --allow-downgrade. fetch ls reads the directory pages of
servers and sitemaps.
Flags: -H -A -e -b -c --compressed --digest --anyauth -z --etag-compare -J
--http1.0 --http0.9 --tolerant, and the TLS flags: -k --cacert --cert.`
