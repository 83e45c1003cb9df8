package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/anyurl/fetch/fetch"
)

// A file is a parsed transcript.
type file struct {
	options  []byte // nil if the transcript has no options
	policy   fetch.Policy
	logins   []string
	requests []string
	results  []string
	notes    string
	talks    map[int][]Conversation // by port
	data     map[int][]Conversation
}

// parseFile parses a transcript. Sections "talk" without a port belong to the
// given port.
func parseFile(archive *txtar.Archive, talk Talk, port int) (*file, error) {
	f := &file{policy: fetch.Typed(), talks: map[int][]Conversation{}, data: map[int][]Conversation{}}
	seen := map[string]bool{}
	for _, section := range archive.Files {
		name, rest, _ := strings.Cut(section.Name, " ")
		if err := f.parseSection(name, rest, section.Data, talk, port); err != nil {
			return nil, fmt.Errorf("section %s: %w", section.Name, err)
		}
		if repeats := name == "talk" || name == "data"; seen[name] && !repeats {
			return nil, fmt.Errorf("section %s: it is there twice", section.Name)
		}
		seen[name] = true
	}
	if len(f.requests) == 0 {
		return nil, errors.New("there is no section request")
	}
	return f, nil
}

func (f *file) parseSection(name, rest string, data []byte, talk Talk, port int) error {
	switch name {
	case "options":
		f.options = data
	case "policy":
		return json.Unmarshal(data, &f.policy)
	case "login":
		f.logins = lines(data)
	case "request":
		f.requests = lines(data)
	case "result":
		f.results = lines(data)
	case "notes":
		f.notes = string(data)
	case "talk":
		if at, ok := strings.CutPrefix(rest, ":"); ok {
			return addConversation(f.talks, at, data, talk)
		}
		return addConversation(f.talks, strconv.Itoa(port), data, talk)
	case "data":
		return addConversation(f.data, rest, data, talk)
	default:
		return errors.New("there is no such section")
	}
	return nil
}

// addConversation parses a conversation and stores it under the port at the
// beginning of text.
func addConversation(all map[int][]Conversation, text string, data []byte, talk Talk) error {
	text, _, _ = strings.Cut(text, " ")
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return err
	}
	c, err := talk.Parse(string(data))
	all[int(port)] = append(all[int(port)], c)
	return err
}

func lines(data []byte) []string {
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// names returns the paths of the transcripts in testdata.
func names() ([]string, error) {
	all, err := filepath.Glob("testdata/*.txtar")
	if err == nil && len(all) == 0 {
		err = errors.New("testdata has no transcripts")
	}
	return all, err
}
