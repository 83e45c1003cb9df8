package links

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/anyurl/fetch/internal/base/lazy"
)

const (
	maxDepth = 100     // nesting of a JSON document
	maxJSON  = 1 << 20 // bytes of a JSON document that are read
)

// visitJSON calls visit for each string value in a JSON document. The argument
// keys holds the names of the enclosing members, from the outermost to the
// innermost. visitJSON stops at the first syntax error.
func (w *walk) visitJSON(in io.Reader, visit func(keys []string, text string)) {
	d := json.NewDecoder(io.LimitReader(in, maxJSON))
	var keys []string  // the name of the current member of each open object
	var objects []bool // for each open value, true for an object and false for an array
	named := false     // the next token is the value of the last key
	for !w.stopped && len(objects) <= maxDepth {
		token, err := d.Token()
		if err != nil {
			return
		}
		inObject := len(objects) > 0 && objects[len(objects)-1]
		switch token := token.(type) {
		case json.Delim:
			switch token {
			case '{':
				objects, keys, named = append(objects, true), append(keys, ""), false
				continue
			case '[':
				objects = append(objects, false)
				named = false
				continue
			case '}':
				keys = keys[:len(keys)-1]
			}
			objects = objects[:len(objects)-1]
		case string:
			if inObject && !named {
				keys[len(keys)-1], named = token, true
				continue
			}
			visit(keys, token)
		}
		named = false
	}
}

// jsonKind returns the link kind of a string in JSON-LD (schema.org) or in a
// web app manifest. It returns false if the string is not a link.
func jsonKind(keys []string) (Kind, bool) {
	if len(keys) == 0 {
		return Page, false
	}
	switch name := keys[len(keys)-1]; name {
	case "image", "logo", "photo", "thumbnail", "thumbnailUrl", "contentUrl", "src":
		return Requisite, true
	case "url", "@id", "embedUrl", "mainEntityOfPage", "start_url", "significantLink", "relatedLink":
		if len(keys) > 1 {
			if kind, ok := jsonKind(keys[:len(keys)-1]); ok && kind == Requisite && name == "url" {
				return Requisite, true
			}
		}
		return Page, true
	}
	return Page, false
}

// visitData finds the links in JSON-LD or in a web app manifest.
func (w *walk) visitData(in io.Reader, from string) {
	w.visitJSON(in, func(keys []string, text string) {
		kind, ok := jsonKind(keys)
		if !ok || strings.HasSuffix(keys[len(keys)-1], "@id") && !strings.Contains(text, "://") {
			return
		}
		w.visitReference(text, kind, from+" "+keys[len(keys)-1])
	})
}

// visitScript finds the links in an HTML script element of the given type.
func (w *walk) visitScript(scriptType string, text []byte) {
	bare, _, _ := strings.Cut(strings.ToLower(scriptType), ";")
	switch strings.TrimSpace(bare) {
	case "importmap":
		w.visitJSON(bytes.NewReader(text), func(keys []string, text string) {
			isTarget := len(keys) == 2 && keys[0] == "imports" || len(keys) == 3 && keys[0] == "scopes"
			if isTarget && !strings.HasSuffix(text, "/") {
				w.visitModule(text, "importmap")
			}
		})
	case "application/ld+json":
		w.visitData(bytes.NewReader(text), "json-ld")
	case "module":
		for _, m := range imports().FindAllSubmatch(text, -1) {
			w.visitModule(string(m[1])+string(m[2]), "module import")
		}
	}
}

// imports matches the static and dynamic imports in a JavaScript module. The
// specifier must be a string constant.
var imports = lazy.Regexp(`\b(?:import|from)\s*\(?\s*(?:"([^"\n]*)"|'([^'\n]*)')`)

// visitModule calls visitReference for the specifier of a JavaScript import. It
// ignores bare specifiers, such as "react", because an import map resolves
// them.
func (w *walk) visitModule(text, from string) {
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || schemeOf(text) != "" {
		w.visitReference(text, Requisite, from)
	}
}
