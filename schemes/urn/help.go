package urn

// help is the help text about URNs.
const help = `urn:NAMESPACE:NAME[?+R][?=Q][#F]   RFC 8141

A name without a location. fetch follows a redirect to the URL that the template of
the namespace describes. Templates for ietf (rfc, std, bcp, fyi, id) and nbn (de, fi,
se) are included. --urn NAMESPACE=URL adds a template. In the URL, {nss} is NAME,
{urn} is urn:NAMESPACE:NAME, {r} is R and {q} is Q. A resolver of RFC 2169 is
  fetch --urn foo=http://HOST/uri-res/N2L?{urn} urn:foo:12345
Without {q}, Q becomes the query of the URL. The server in a template may have a
private address, and its redirects are restricted like those of other servers. Links
and redirects to URNs are denied.`
