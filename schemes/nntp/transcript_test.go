package nntp_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/transcript"
	"github.com/anyurl/fetch/schemes/nntp"
)

var kit = transcript.Kit{Port: 119, Schemes: transcript.SchemesOf(nntp.Schemes), Phrases: phrases, Goodbye: "QUIT\r\n"}

// TestTranscripts replays the transcripts in testdata.
func TestTranscripts(t *testing.T) { kit.Run(t) }

// phrases contains the first steps of sessions with some servers.
var phrases = map[string]string{
	"capabilities": `> CAPABILITIES
< 101 Capability list:
< VERSION 2
< IMPLEMENTATION INN 2.7.1
< AUTHINFO USER SASL
< COMPRESS DEFLATE
< HDR
< LIST ACTIVE ACTIVE.TIMES COUNTS DISTRIB.PATS DISTRIBUTIONS HEADERS MODERATORS MOTD NEWSGROUPS OVERVIEW.FMT SUBSCRIPTIONS
< NEWNEWS
< OVER
< READER
< SASL SCRAM-SHA-512 SCRAM-SHA-384 SCRAM-SHA-256 SCRAM-SHA-224 SCRAM-SHA-1 DIGEST-MD5 CRAM-MD5 NTLM PLAIN LOGIN
< STARTTLS
< XPAT
< .`,
	"nnrpd": `< 200 server.example.net InterNetNews NNRP server INN 2.7.1 ready (no posting)
= capabilities`,
	"plain": `< 200 ready
> CAPABILITIES
< 101 Capability list:
< VERSION 2
< READER
< LIST ACTIVE NEWSGROUPS
< .`,
	"leafnode": `< 200 Leafnode NNTP Daemon, version 1.12.0 running at localhost (my fqdn: leaf1.something.net)
> CAPABILITIES
< 500 Unknown command
> MODE READER
< 200 Leafnode 1.12.0, pleased to meet you!`,
	"overview.fmt": `< 215 Order of fields in overview database
< Subject:
< From:
< Date:
< Message-ID:
< References:
< Bytes:
< Lines:
< Xref:full
< .`,
}
