package console

import (
	"strings"

	"github.com/anyurl/fetch/doc"
	"github.com/anyurl/fetch/internal/base/lazy"
)

var namedFlag = lazy.Regexp(`(?:^|[ ("])(--[a-z][a-z0-9-]*[a-z0-9]|-[A-Za-z])\b`)

// Topic returns the page of the documentation that describes the first flag in a
// message, such as "policy". It returns "" if there is no such page. It ignores
// the flags of a command line in the message, because this command line is
// already the advice.
func Topic(message string) string {
	message, _, _ = strings.Cut(message, "; fetch ")
	var pages []doc.Page
	for _, m := range namedFlag().FindAllStringSubmatch(message, -1) {
		if pages == nil {
			all, err := doc.Pages()
			if err != nil {
				return ""
			}
			pages = all
		}
		if name := doc.Explaining(pages, m[1]); name != "" {
			return name
		}
	}
	return ""
}

// topicOf returns the page for an error with the given remedy.
func topicOf(err error, remedy string) string {
	if remedy != "" {
		return Topic(remedy)
	}
	return Topic(oneLine(err.Error()))
}
