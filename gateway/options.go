package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/render"
)

// maxOptionDepth is the maximum depth of the nested options that an overview shows.
const maxOptionDepth = 4

// optionFacts lists the first options in text, the JSON content of options.json,
// for the overview. Nested names are joined, such as "scope reach". The seeds and
// the version are left out. The archive may come from a stranger, so optionFacts
// reads one token at a time, and stops after maxFacts options.
func optionFacts(text []byte) []render.Fact {
	r := optionReader{d: json.NewDecoder(bytes.NewReader(text))}
	r.d.UseNumber()
	if start, err := r.d.Token(); err != nil || start != json.Delim('{') || r.object("", maxOptionDepth) != nil {
		return nil
	}
	slices.SortFunc(r.facts, func(a, b render.Fact) int { return strings.Compare(a.Name, b.Name) })
	return r.facts
}

// An optionReader reads options.
type optionReader struct {
	d     *json.Decoder
	facts []render.Fact
}

// object reads the members of an object after its opening brace. It ends early
// after maxFacts options.
func (r *optionReader) object(prefix string, depth int) error {
	for len(r.facts) < maxFacts {
		token, err := r.d.Token()
		if err != nil || token == json.Delim('}') {
			return err
		}
		name := token.(string)
		if token, err = r.d.Token(); err != nil {
			return err
		}
		hidden := prefix == "" && (name == "seeds" || name == "version")
		name = strings.TrimSpace(prefix + " " + strings.ReplaceAll(clipText(name), "_", " "))
		switch {
		case token == json.Delim('{') && depth > 1 && !hidden:
			err = r.object(name, depth-1)
		case token == json.Delim('['), token == json.Delim('{'):
			var words []string
			if words, err = r.words(); err == nil && !hidden {
				r.add(name, strings.Join(words, ", "))
			}
		case !hidden:
			r.add(name, optionText(name, token))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// words returns the first simple values of a list or an object after its opening
// delimiter, and reads it to its end.
func (r *optionReader) words() (words []string, err error) {
	for depth := 1; depth > 0; {
		token, err := r.d.Token()
		if err != nil {
			return nil, err
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		default:
			if len(words) < maxFacts {
				words = append(words, clipText(fmt.Sprint(token)))
			}
		}
	}
	return words, nil
}

func (r *optionReader) add(name, value string) {
	r.facts = append(r.facts, render.Fact{Name: tty.Escape(name), Value: tty.Escape(clipText(value))})
}

// optionText formats the value of an option. Sizes and durations have a unit.
func optionText(name string, value any) string {
	n, ok := value.(json.Number)
	if !ok {
		return fmt.Sprint(value)
	}
	last := name[strings.LastIndexByte(name, ' ')+1:]
	size, err := n.Int64()
	switch {
	case err == nil && (last == "bytes" || last == "size" || last == "free"):
		return render.FormatSize(size)
	case last == "seconds":
		return n.String() + " s"
	case err == nil && size >= 10_000:
		return render.FormatCount(size)
	}
	return n.String()
}
