package waistest

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/wire/z3950"
)

// FreeWAIS returns a Server that sends the responses in the recordings.
// Documents that no recorded client retrieved have the correct length but other
// text. Only the recorded searches have results.
func FreeWAIS(t testing.TB) *Server {
	t.Helper()
	source := Recorded(t, "05-help.hex")[3].Answer
	source = source[bytes.Index(source, []byte("\n\n(:source")):]
	text := Body{"WSRC", int64(len(source)), 24, bytes.NewReader(source)}
	described := text
	described.Lines = 25 // freeWAIS-sf counts one more line of the same file in database notes
	return &Server{Databases: map[string]*Database{
		"notes": notes(described),
		"pics":  pics(),
		"multi": multi(),
		"INFO":  info(text),
	}}
}

const gif = "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"

// file returns a document below /srv/wais/data, with the headline that
// freeWAIS-sf derives from the path.
func file(name string, bodies ...Body) *Document {
	dir, base := path.Split("/srv/wais/data/" + name)
	return &Document{dir + base, base + "   " + dir, bodies}
}

// fillerBody returns a Body with the given size and number of lines. It
// replaces a document whose text is not in the recordings.
func fillerBody(kind string, size int, lines uint32) Body {
	b := NewBody(kind, strings.Repeat("?", size))
	b.Lines = lines
	return b
}

func hit(d *Document, score uint32) Hit { return Hit{d, z3950.Some(score), z3950.Some(0)} }

func notes(source Body) *Database {
	alpha := file("alpha.txt", NewBody("TEXT", "Alpha note on whales\nThe humpback whale sings long songs in the warm ocean.\nWhale song carries for many kilometres under water.\n"))
	beta, gamma := file("beta.txt", fillerBody("TEXT", 64, 2)), file("gamma.txt", fillerBody("TEXT", 83, 2))
	var text strings.Builder
	for n := range 4000 {
		fmt.Fprintf(&text, "Line %05d of the big document about leviathan and other large whales\n", n+1)
	}
	big := file("big.txt", NewBody("TEXT", text.String()))
	found := map[string][]Hit{
		"whale":     {hit(alpha, 238), hit(beta, 230)},
		"leviathan": {hit(big, 50)},
		"gopher":    {hit(beta, 405)},
		"book":      {hit(alpha, 2221), hit(gamma, 833), hit(beta, 286), hit(big, 7)}, // query: "book" like alpha
	}
	return &Database{
		Documents: []*Document{alpha, beta, big, gamma},
		Source:    &Document{"/srv/wais/idx/notes.src", "", []Body{source}},
		Catalog:   &Document{"/srv/wais/idx/notes.cat", "", []Body{fillerBody("TEXT", 443, 21)}},
		Rank:      func(q *z3950.Query) []Hit { return found[string(q.Words)] },
	}
}

func pics() *Database {
	whale := &Document{"/srv/wais/data/whale.gif", "whale.gif", []Body{{"GIF", int64(len(gif)), 1, strings.NewReader(gif)}}}
	return &Database{Documents: []*Document{whale}, Rank: func(*z3950.Query) []Hit { return []Hit{hit(whale, 490)} }}
}

// multi returns a database with a document whose second type is longer than the
// first. Search results have the length of the first type.
func multi() *Database {
	narwhal := file("multi/narwhal.TEXT", NewBody("TEXT", "A narwhal drawn in text\n"), NewBody("GIF", gif))
	return &Database{Documents: []*Document{narwhal}, Rank: func(*z3950.Query) []Hit { return []Hit{hit(narwhal, 298)} }}
}

// info returns the database INFO, which lists the databases of the server.
func info(source Body) *Database {
	describing := func(name string, body Body) *Document {
		return &Document{"/srv/wais/idx/" + name + ".src", name + ".src", []Body{body}}
	}
	pics, multi, notes := describing("pics", fillerBody("WSRC", 411, 19)), describing("multi", fillerBody("WSRC", 426, 19)), describing("notes", source)
	return &Database{Documents: []*Document{pics, multi, notes}, Rank: func(q *z3950.Query) []Hit {
		if string(q.Words) == "text" {
			return []Hit{hit(multi, 116), hit(notes, 86)}
		}
		return []Hit{hit(pics, 187)}
	}}
}
