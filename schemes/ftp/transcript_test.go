package ftp_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/internal/test/transcript"
	"github.com/anyurl/fetch/schemes/ftp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var kit = transcript.Kit{Port: 21, Schemes: transcript.SchemesOf(ftp.Schemes), Phrases: phrases, Goodbye: "QUIT\r\n"}

// TestTranscripts replays the conversations of testdata.
func TestTranscripts(t *testing.T) { kit.Run(t) }

// phrases are the steps that most talks have.
var phrases = map[string]string{
	"anonymous": `< 220 Service ready
> USER anonymous
< 331 Send your address
> PASS fetch@
< 230 Logged in`,
	"login": `= anonymous
> FEAT
< 211-Features
<  MDTM
<  SIZE
< 211 End
> PWD
< 257 "/" is the current directory`,
	"old login": `= anonymous
> FEAT
< 502 Command not implemented
> PWD
< 502 Command not implemented`,
	"file": `> TYPE I
< 200 OK
= again`,
	"again": `> SIZE file
< 213 7
> MDTM file
< 213 19991231235959`,
	"no file": `> TYPE I
< 200 OK
> SIZE file
< 550 No such file
> MDTM file
< 550 No such file`,
	"passive": `> EPSV
< 229 Entering Extended Passive Mode (|||40000|)`,
	"retrieve": `= passive
> RETR file
< 150 Opening data connection`,
	"list": `> TYPE A
< 200 OK
= passive
> LIST
< 150 Opening data connection
< 226 Done`,
}
