// Package ftp dereferences ftp and ftps URLs: files and directories of FTP
// servers.
//
// Give [Schemes] to fetch.New. The path of a URL is no file name but commands
// (RFC 1738 3.2): each segment but the last is the argument of a CWD, decoded
// after the path was split, and the last is that of RETR; an empty last one, or
// ";type=d", asks for a listing. So ftp://host/%2Fetc/motd and
// ftp://host/etc/motd are different files.
//
// Files are read as images (TYPE I) unless the URL says ";type=a" or
// Options.ASCII is set; nothing is guessed from a name. A listing is what the
// server sent: its media type, text/x-ftp-list, says how to read it.
//
// The control connection is spoken here, not by a library, and kept for the
// next request of the same user.
//
// RFC 959, 1123 4.1, 1738 3.2, 2228, 2389, 2428, 2640, 3659, 4217.
package ftp
