package nfs

// help is the help text about nfs URLs.
const help = `nfs://HOST[:PORT]/PATH   RFC 2224

Retrieves a file, or lists a directory, over NFS version 3 and TCP. PATH is
relative to the public file handle of the server. Other servers are mounted, and
PATH then begins with an exported directory: nfs://HOST/srv/export/file. Without
PATH, fetch ls lists the exported directories. --nfs-user UID:GID selects the
identity that the server sees (default 65534:65534, nobody). --nfs-mount-port
PORT is for servers without a portmapper or public file handle. Symbolic links
are followed inside the export.`
