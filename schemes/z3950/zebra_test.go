package z3950_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// locatorRecord is a record with two levels of subtrees.
const locatorRecord = `<gils>
<title>Soundings of a harbour</title>
<originator><originatorName>Office of Tides</originatorName><note>by order</note></originator>
<abstract>Depths, measured twice.</abstract>
<controlledSubjectIndex><subjectThesaurus>None</subjectThesaurus>
<subjectTermsControlled><controlledTerm>tides</controlledTerm><controlledTerm>harbours</controlledTerm></subjectTermsControlled>
</controlledSubjectIndex>
</gils>
`

// TestZebra retrieves a record of Zebra in each record syntax. The GRS-1 record
// has all its nested elements.
func TestZebra(t *testing.T) {
	s := peer.Zebra(t, locatorRecord, "<gils><title>Another book</title></gils>")
	c := schemetest.NewClient(t, schemes(), onPeer(s))
	for syntax, want := range map[string]string{
		"grs-1": `(1,1) 1.2.840.10003.13.2
(2,1) Soundings of a harbour
(4,52)
    (3,originatorName) Office of Tides
    (3,note) by order
(2,6) Depths, measured twice.
(4,95)
    (4,21) None
    (4,96)
        (4,20) tides
        (4,20) harbours
`,
		"sutrs":  "controlledTerm: harbours\n",
		"xml":    "<controlledTerm>harbours</controlledTerm>",
		"usmarc": "\x1faOffice of Tides\x1e",
	} {
		_, body, err := schemetest.Read(t, c, session+"Default?title:soundings;n=1;rs="+syntax)
		if err != nil || !strings.Contains(body, want) || syntax == "grs-1" && body != want {
			t.Errorf("%s: got %q, %v", syntax, body, err)
		}
	}
	all, err := schemetest.List(t, c, session+"Default?title:book;rs=grs-1")
	if err != nil || len(all) != 1 || all[0].Name != "Another book" {
		t.Errorf("list: got %+v, %v", all, err)
	}
}
