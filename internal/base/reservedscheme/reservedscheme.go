// Package reservedscheme lists the URL schemes that are standardized but have no
// driver.
package reservedscheme

// Describe describes the objects of a URL scheme that is standardized but has no
// driver. The result ok is false for all other schemes. A gateway may support a
// reserved scheme.
func Describe(name string) (description string, ok bool) {
	description, ok = schemes[name]
	return description, ok
}

// schemes describes the schemes of RFC 1630, RFC 1738 and their drafts
// that have no driver. The descriptions appear in errors and help texts.
var schemes = map[string]string{
	"cso":  "entries of a CSO name server",
	"ipns": "names of IPFS objects",
}
