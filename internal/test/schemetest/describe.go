package schemetest

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
)

// Describe returns a response as text: the entries of a menu, the body of
// another response, or the error. It removes prefix from the beginning of URLs.
func Describe(resp *fetch.Response, err error, prefix string) string {
	if err != nil || resp.Kind != fetch.Menu || !resp.Location.IsZero() {
		return DescribeBody(resp, err, prefix)
	}
	defer resp.Body.Close()
	var all []string
	for e, err := range resp.Entries() {
		if err != nil {
			all = append(all, failure(err, prefix))
			break
		}
		all = append(all, DescribeEntry(e, prefix))
	}
	return strings.Join(all, "\n")
}

// DescribeBody is like Describe, but shows the body of a menu instead of its
// entries.
func DescribeBody(resp *fetch.Response, err error, prefix string) string {
	if err != nil {
		return failure(err, prefix)
	}
	defer resp.Body.Close()
	if !resp.Location.IsZero() {
		return "redirect to " + resp.Location.String()
	}
	body, err := io.ReadAll(resp.Body)
	text := fmt.Sprintf("%s: %q", Head(resp), body)
	if err != nil {
		text += " " + failure(err, prefix)
	}
	return text
}

// Summary reads a response and describes it in a few words: the kind and the number
// of entries or bytes, or the Fault of an error.
func Summary(resp *fetch.Response, err error) string {
	if err != nil {
		return fetch.FaultOf(err).String()
	}
	defer resp.Body.Close()
	if resp.Kind == fetch.Menu {
		n := 0
		for _, err := range resp.Entries() {
			if err != nil {
				return fetch.FaultOf(err).String()
			}
			n++
		}
		return fmt.Sprintf("menu of %d", n)
	}
	size, err := io.Copy(io.Discard, resp.Body)
	if err != nil {
		return fetch.FaultOf(err).String()
	}
	return fmt.Sprintf("document of %d bytes", size)
}

// Head returns the kind, the media type, the protocol and the size of a
// response, as far as they are known.
func Head(resp *fetch.Response) string {
	parts := []string{resp.Kind.String(), resp.Media, resp.Proto}
	if resp.Size >= 0 {
		parts = append(parts, fmt.Sprintf("%d bytes", resp.Size))
	}
	return joinWords(parts)
}

func failure(err error, prefix string) string {
	text := err.Error()
	if prefix != "" {
		text = strings.ReplaceAll(text, prefix, "")
	}
	return fmt.Sprintf("%v: %s", fetch.FaultOf(err), text)
}

// DescribeEntry returns an entry as one line: kind, name, URL without prefix,
// media type, size, time and Extra, as far as they are known.
func DescribeEntry(e fetch.Entry, prefix string) string {
	parts := []string{e.Kind.String(), fmt.Sprintf("%q", e.Name), strings.TrimPrefix(e.URL.String(), prefix), e.Media}
	if e.Size >= 0 {
		parts = append(parts, fmt.Sprint(e.Size))
	}
	if !e.Time.IsZero() {
		parts = append(parts, e.Time.Format("20060102150405"))
	}
	for _, key := range slices.Sorted(maps.Keys(e.Extra)) {
		parts = append(parts, fmt.Sprintf("%s=%q", key, e.Extra[key]))
	}
	return joinWords(parts)
}

// joinWords joins the parts that are not empty.
func joinWords(parts []string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// JoinSteps returns the steps of a plan as text.
func JoinSteps(steps []scheme.Step, separator string) string {
	var all []string
	for _, s := range steps {
		all = append(all, s.String())
	}
	return strings.Join(all, separator)
}
