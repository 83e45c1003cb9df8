package pop_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/transcript"
	"github.com/anyurl/fetch/schemes/pop"
)

var kit = transcript.Kit{Port: 110, Schemes: transcript.SchemesOf(pop.Schemes), Goodbye: "QUIT\r\n"}

// TestTranscripts replays the transcripts in testdata.
func TestTranscripts(t *testing.T) { kit.Run(t) }
