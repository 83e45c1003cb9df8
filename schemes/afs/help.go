package afs

// help is the help text about afs URLs.
const help = `afs:/afs/CELL/PATH   afs://CELL/PATH   RFC 1738 5

Files of the Andrew File System, read through the mount at /afs. --afs-root DIR is
another mount. Files outside the mount cannot be read, not even through symbolic
links. A directory is printed as a list of names; fetch ls prints details.`
