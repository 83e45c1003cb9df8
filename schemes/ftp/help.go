package ftp

// help documents ftp and ftps URLs.
const help = `ftp://[USER:PASSWORD@]HOST[:PORT]/DIR/DIR/FILE[;type=a|i|d]   RFC 1738 3.2

fetch sends a CWD for each DIR, then RETR: the path begins at the login
directory. A path that begins with %2F begins at the root. A URL that ends in /
or ;type=d is a listing. Lines of listings and texts end in LF; --raw leaves the
CR LF that the server sent. Without a user, the user is anonymous.
Flags: -B --ftp-method -P --disable-epsv --ssl --ssl-reqd -l --ftp-account.`
