// Package ftp implements ftp and ftps URLs: files and directories of FTP
// servers.
//
// Pass the result of [Schemes] to fetch.New. The path of a URL determines the
// commands that are sent (RFC 1738 3.2). Each segment but the last is the
// argument of a CWD, and the last one is the argument of RETR. The path is
// split before the segments are percent-decoded. An empty last segment or
// ";type=d" requests a listing. So ftp://host/%2Fetc/motd and
// ftp://host/etc/motd are different files.
//
// Files are transferred as images (TYPE I) unless the URL has ";type=a" or
// Options.ASCII is set. The type never depends on the file name. A listing is
// returned in the format of the server. The parameters of its media type,
// text/x-ftp-list, describe its format.
//
// The driver reuses control connections for requests of the same user.
//
// References: RFC 959, 1123 4.1, 1738 3.2, 2228, 2389, 2428, 2640, 3659, 4217.
package ftp
