package clientflags

import (
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/uri/iri"
)

// asciiHost returns the form of a host name that URLs have, such as
// xn--bcher-kva.test for bücher.test. It returns other text unchanged.
func asciiHost(host string) string {
	if !hasNonASCII(host) || strings.ContainsAny(host, "/?#@:[]%") {
		return host
	}
	u, err := iri.Parse("http://" + host + "/")
	if err != nil {
		return host
	}
	return u.Host()
}

// asciiHosts applies asciiHost to the hosts in a list of --noproxy. They may have a
// leading dot and a port.
func asciiHosts(list string) string {
	if !hasNonASCII(list) {
		return list
	}
	entries := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	for i, entry := range entries {
		host, port, hasPort := strings.Cut(entry, ":")
		entries[i] = asciiHost(strings.TrimPrefix(host, "."))
		if hasPort {
			entries[i] += ":" + port
		}
	}
	return strings.Join(entries, ",")
}

func hasNonASCII(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}
