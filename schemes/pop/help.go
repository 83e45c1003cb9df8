package pop

// help is the help text about pop URLs.
const help = `pop://USER[:PASSWORD][;AUTH=MECHANISM]@HOST[:PORT]/[NUMBER]   RFC 2384

Without NUMBER, the URL names the mailbox: fetch ls lists its messages. With
NUMBER, it names a message. No message is deleted. pop3 and pop3s are other
names for pop and pops. pops is pop over TLS. pop uses STLS if the server
supports it: see --ssl-reqd.
MECHANISM is a SASL mechanism such as SCRAM-SHA-256, +APOP, +LOGIN (the command
USER), or * for any. The default is the best mechanism that the server offers.
If a server rejects a mechanism, fetch tries the next one, but then sends no
password in plaintext unless MECHANISM is * or the connection uses TLS.
Flags: -u or --netrc supplies the login, and --sasl the mechanism.`
