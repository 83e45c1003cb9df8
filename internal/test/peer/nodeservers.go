package peer

import (
	"fmt"
	"path/filepath"
)

// GeminiServer starts the Gemini server gemini-server (npm gemini-server), which
// serves Root. The URL path /moved is a redirect to /x.gmi, and /ask requests an
// input.
func GeminiServer(t TB) *Server {
	t.Helper()
	node, module := NeedModule(t, "gemini-server@2.1.1", "gemini-server", "package.json")
	s := newServer(t)
	s.certify(nil)
	return s.node(node, filepath.Dir(module), `
const gemini = require(process.argv[2]).default, fs = require("fs")
const app = gemini({cert: fs.readFileSync(process.argv[5]), key: fs.readFileSync(process.argv[6])})
app.on("/moved", gemini.redirect("/x.gmi"))
app.on("/ask", (req, res) => req.query ? res.data("you said " + decodeURIComponent(req.query) + "\n", "text/plain") : res.input("Name?"))
app.use("/", gemini.serveStatic(process.argv[4]))
app.listen(+process.argv[3], "127.0.0.1")
`)
}

// LDAPJS starts an LDAP server with the library ldapjs (npm ldapjs). It has the
// entries dc=example,dc=org and ou=people,dc=example,dc=org, and 700 entries
// below the latter, uid=u0 and so on. The login of User with Password is
// "cn=alice".
func LDAPJS(t TB) *Server {
	t.Helper()
	node, module := NeedModule(t, "ldapjs@3.0.7", "ldapjs", "package.json")
	s := newServer(t)
	return s.node(node, filepath.Dir(module), `
const ldap = require(process.argv[2]), server = ldap.createServer()
server.bind("cn=alice", (req, res, next) => {
	if (req.credentials !== "s3cret") return next(new ldap.InvalidCredentialsError())
	res.end(); return next()
})
const entries = [
	["dc=example,dc=org", {objectClass: ["domain"], dc: ["example"], o: ["Example"]}],
	["ou=people,dc=example,dc=org", {objectClass: ["organizationalUnit"], ou: ["people"]}],
]
for (let i = 0; i < 700; i++)
	entries.push(["uid=u" + i + ",ou=people,dc=example,dc=org", {objectClass: ["person"], uid: ["u" + i], cn: ["User " + i]}])
server.search("dc=example,dc=org", (req, res, next) => {
	const base = req.dn.toString(), all = entries.map(([dn, attributes]) => [ldap.parseDN(dn), attributes])
	const found = all.filter(([dn, attributes]) => {
		const inScope = {base: dn.equals(req.dn), single: dn.childOf(req.dn) && dn.parent().equals(req.dn),
			subtree: dn.equals(req.dn) || dn.childOf(req.dn)}[req.scopeName]
		return inScope && req.filter.matches(attributes)
	})
	if (found.length === 0 && !all.some(([dn]) => dn.equals(req.dn))) return next(new ldap.NoSuchObjectError(base))
	for (const [dn, attributes] of found) res.send({dn: dn.toString(), attributes})
	res.end(); return next()
})
server.listen(+process.argv[3], "127.0.0.1")
`)
}

// node starts a script with the arguments module, port, Root, certificate and
// key.
func (s *Server) node(program, module, script string) *Server {
	s.t.Helper()
	file := s.config("server.js", script)
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		args := []string{file, module, fmt.Sprint(base), s.Root}
		if s.Cert != nil {
			args = append(args, s.Cert.File, s.Cert.KeyFile)
		}
		return command{path: program, args: args}
	})
}
