package prospertest

import (
	"fmt"
	"path"
	"strings"

	"github.com/anyurl/fetch/internal/wire/prospero/message"
)

// An Object is a file or a directory of a Server, or the target of one of its
// links.
type Object struct {
	Name       string   // host-specific name: "AFTP/pub/a.txt"; the part before the last "/" is its directory
	Target     string   // FILE, DIRECTORY, EXTERNAL
	Union      bool     // the link to the object is a union link
	Host, Path string   // target of the link; "": this server and Name
	Attributes []string // text after "ATTRIBUTE OBJECT ": "INTRINSIC SIZE SEQUENCE 19' bytes'"
	Contents   []byte   // nil: not available
	Hidden     bool     // omitted from the listing of its directory
	Forward    string   // text after "FORWARDED "; "": the object is on this server
}

// Add adds an object. It becomes the last one in the listing of its directory.
func (s *Server) Add(o Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, has := s.objects[o.Name]; !has && !o.Hidden {
		dir := path.Dir(o.Name)
		s.order[dir] = append(s.order[dir], o.Name)
	}
	s.objects[o.Name] = &o
}

// aftp is the folder that "AFTP" denotes at the start of a name.
const aftp = "/srv/pros/aftp"

func (s *Server) find(name string) *Object {
	if rest, ok := strings.CutPrefix(name, aftp); ok {
		name = "AFTP" + rest
	}
	return s.objects[strings.TrimRight(name, "/")]
}

// reply returns the text of the reply to a request.
func (s *Server) reply(request string) string {
	if strings.Contains(request, "\r") {
		return "ERROR Malformed input line: Read' Prospero message with an empty line.'\n"
	}
	var out strings.Builder
	dir := ""
	for r := message.NewReader(strings.NewReader(request)); ; {
		l, err := r.Line()
		if err != nil {
			return out.String()
		}
		switch l.Tokens[0] {
		case "VERSION":
			switch n := l.Token(1); {
			case n == "":
				out.WriteString("VERSION 5 P53.17May94b\n")
			case n > "5":
				return out.String() + "VERSION-NOT-SUPPORTED TRY 1-5"
			}
		case "AUTHENTICATE":
		case "STATUS":
			out.WriteString(status)
		case "DIRECTORY":
			dir = l.Token(2)
		case "LIST":
			out.WriteString(s.list(dir, l))
		case "GET-OBJECT-INFO":
			out.WriteString(s.info(l))
		default:
			return out.String() + "ERROR Unknown message: " + l.Raw + "\n"
		}
	}
}

// list returns the reply to the command LIST. Its arguments are options, the
// word COMPONENTS, and names. All names but the last are folders. A "/" in an
// argument also separates names.
func (s *Server) list(dir string, l message.Line) string {
	last := "*"
	if names := strings.Join(l.Tokens[min(3, len(l.Tokens)):], "/"); names != "" {
		dir, last = path.Split(dir + "/" + names)
		dir = strings.TrimRight(dir, "/")
	}
	if o := s.find(dir); o != nil && o.Forward != "" {
		return "FORWARDED " + o.Forward + "\n"
	} else if o == nil || !strings.Contains(o.Target, "DIRECTORY") {
		return "FAILURE NOT-A-DIRECTORY\n"
	}
	var out strings.Builder
	for _, name := range s.order[strings.Replace(dir, aftp, "AFTP", 1)] {
		if ok, _ := path.Match(last, path.Base(name)); ok {
			s.link(&out, s.objects[name], strings.Contains(l.Token(1), "ATTRIBUTES"))
		}
	}
	if out.Len() == 0 {
		return "NONE-FOUND\n"
	}
	return out.String()
}

func (s *Server) link(out *strings.Builder, o *Object, attributes bool) {
	host, name, kind := s.host, o.Name, "L"
	if o.Host != "" {
		host, name = o.Host, o.Path
	}
	if o.Union {
		kind = "U"
	}
	fmt.Fprintf(out, "LINK  %s %s %s INTERNET-D %s ASCII %s 0\n", kind, o.Target, quoted(path.Base(o.Name)), host, quoted(name))
	if attributes {
		s.attributes(out, o)
	}
}

func (s *Server) attributes(out *strings.Builder, o *Object) {
	for _, a := range o.Attributes {
		out.WriteString("ATTRIBUTE OBJECT " + a + "\n")
	}
}

// info returns the reply to GET-OBJECT-INFO. Like dirsrv, it reports NOT-FOUND
// if the request names only ACCESS-METHOD, and for objects on another server.
func (s *Server) info(l message.Line) string {
	o := s.find(l.Token(3))
	switch {
	case o == nil || o.Host != "" || l.Token(1) == "ACCESS-METHOD":
		return "FAILURE NOT-FOUND\n"
	case o.Forward != "":
		return "FORWARDED " + o.Forward + "\n"
	case l.Token(1) != "CONTENTS":
		var out strings.Builder
		s.attributes(&out, o)
		return out.String()
	case o.Contents == nil:
		return "FAILURE NOT-FOUND\n"
	}
	return "ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA " + quoted(string(o.Contents)) + "\n"
}

// quoted quotes a token as dirsrv does. The quotes enclose the text from the
// first character that needs them to the end of the token.
func quoted(token string) string {
	i := strings.IndexAny(token, " \t\n/',")
	if i < 0 && token != "" {
		return token
	}
	i = max(i, 0)
	return token[:i] + "'" + strings.ReplaceAll(token[i:], "'", "''") + "'"
}
