package gemini

// help is the help text about gemini URLs.
const help = `gemini://HOST[:PORT]/PATH[?INPUT]   Gemini protocol 0.24

A gemtext document is a listing of its links: fetch ls. A document that asks for
input is a search index: fetch search URL WORDS. The key of a server is stored
at the first request in ~/.local/state/fetch/gemini_hosts ($XDG_STATE_HOME). If
the key changes later, the request fails with exit code 5. To accept the new
key, remove the line of the server from the file.
Flags: --cert FILE and --key FILE use a client certificate. It is sent only to
the host of the URL that you type, and not after links to other hosts. --cacert
FILE verifies servers with CA certificates instead. -k skips the verification.
--strict reports a document without the close_notify alert of TLS as truncated.`

// spartanHelp is the help text about spartan URLs.
const spartanHelp = `spartan://HOST[:PORT]/PATH[?DATA]   Spartan protocol, 2021

A gemtext document is a listing of its links: fetch ls. DATA is sent to the
server, percent-decoded: fetch search URL WORDS. Spartan has no encryption.`
