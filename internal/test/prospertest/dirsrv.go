package prospertest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/wire/prospero/ardp"
	"github.com/anyurl/fetch/internal/wire/prospero/message"
)

// Dirsrv returns a Server with the objects that occur in the recorded replies.
func Dirsrv(t testing.TB) *Server {
	t.Helper()
	s := NewServer("LOCALHOST(15250)")
	s.Add(Object{Name: "AFTP", Target: "DIRECTORY", Hidden: true})
	for _, file := range Recordings(t) {
		for _, reply := range replies(t, file) {
			s.learn(reply)
		}
	}
	contents := map[string]string{"hello.txt": "anonymous ftp file\n", "pixel.gif": "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"}
	for name, text := range contents {
		o := Object{Name: "AFTP/pub/" + name, Target: "FILE", Hidden: true}
		if known := s.objects[o.Name]; known != nil {
			o = *known
		}
		if o.Attributes == nil { // no recorded request covers its attributes
			o.Attributes = []string{"INTRINSIC ACCESS-METHOD SEQUENCE PROSPERO-CONTENTS '' '' '' ''"}
		}
		o.Contents = []byte(text)
		s.objects[o.Name] = &o
	}
	return s
}

// replies returns the texts of the replies in a recording.
func replies(t testing.TB, file string) (texts []string) {
	var text bytes.Buffer
	parts := map[uint16][]byte{}
	flush := func() {
		for n := uint16(1); parts[n] != nil; n++ {
			text.Write(parts[n])
		}
		if texts = append(texts, text.String()); true {
			text.Reset()
			clear(parts)
		}
	}
	for _, d := range Recorded(t, file) {
		p, err := ardp.Parse(d.Bytes)
		switch {
		case err != nil:
			t.Fatalf("%s: %v", file, err)
		case d.Client && p.Number > 0:
			flush()
		case !d.Client:
			parts[p.Number] = p.Data
		}
	}
	flush()
	return texts
}

// learn adds the objects to which the links in a reply refer. If several
// replies describe an object, learn keeps its first link, and the first
// attributes that a reply contains.
func (s *Server) learn(reply string) {
	var at *Object
	r := message.NewReader(strings.NewReader(reply))
	for l, err := r.Line(); err == nil; l, err = r.Line() {
		switch {
		case l.Token(0) == "LINK":
			name := l.Token(7)
			if s.objects[name] == nil {
				s.Add(Object{Name: name, Target: l.Token(2)})
			}
			if at = s.objects[name]; at.Attributes != nil {
				at = nil
			}
		case l.Token(0) == "ATTRIBUTE" && at != nil:
			at.Attributes = append(at.Attributes, strings.TrimPrefix(l.Raw, "ATTRIBUTE OBJECT "))
		}
	}
}

const status = `Prospero server (PreAlpha.5.3 17 May 94, patchlevel b) LOCALHOST(15250)
Requests since startup 1 (0 V1) (0+0+0 0+0+0 0 0+0+0 0 0 1)
Started: 20-Nov-126 13:11:27 UTC
Contact: info-prospero@ISI.EDU
  Files: 0(0)open, 0 waits, 0 secs
    DNS: 1(2) caching 1(300)
 Memory: 0(0)vlink 0(0)pattrib 7(7)acl 0(0)pfile 1(1)rreq 2(2)ptext
 Memory: 19(19)string 5(5)token 0(0)pauth 0(0)filter 0(0)p_object
 Memory: 1(2)dnscache
   Data: /srv/pros/pfsdat
   Root: /
   AFTP: /srv/pros/aftp
`
