package finger

// help is the help text about finger URLs.
const help = `finger://HOST[:PORT]/[USER[@HOST2]][/w]   RFC 1288

Information about a user of a host, or about all users if there is no name. The
segment w requests the long form. For USER@HOST2, the server HOST queries the
server HOST2, if it supports this. finger://USER@HOST is another form of
finger://HOST/USER.`
