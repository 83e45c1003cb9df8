package mail_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/transcript"
	"github.com/anyurl/fetch/schemes/mail"
)

var kit = transcript.Kit{Port: 143, Schemes: transcript.SchemesOf(mail.Schemes), Phrases: phrases, Goodbye: "Z LOGOUT\r\n"}

// TestTranscripts replays the conversations in testdata.
func TestTranscripts(t *testing.T) { kit.Run(t) }

// phrases are common steps of the conversations.
var phrases = map[string]string{
	"greeting": "< * OK [CAPABILITY IMAP4rev1 LITERAL+] ready",
	"login":    "> A1 LOGIN \"bob\" \"s3cret\"\n< A1 OK [CAPABILITY IMAP4rev1 LITERAL+] welcome",
	"enter":    "= greeting\n= login",
	"inbox": "> T1 EXAMINE INBOX\n< * 3 EXISTS\n< * 0 RECENT\n< * FLAGS (\\Answered \\Seen)\n< * OK [UIDVALIDITY 42] UIDs valid\n" +
		"< * OK [UIDNEXT 8] next\n< T1 OK [READ-ONLY] done",
}
