package media

// byExtension maps file extensions that are common in Internet archives and
// current directories to media types. Types are registered with IANA where
// possible.
var byExtension = map[string]string{
	"txt": "text/plain", "text": "text/plain", "log": "text/plain", "asc": "text/plain",
	"readme": "text/plain", "me": "text/plain", "nfo": "text/plain", "diz": "text/plain",
	"c": "text/x-c", "h": "text/x-c", "cc": "text/x-c", "cpp": "text/x-c", "go": "text/x-go",
	"py": "text/x-python", "pl": "text/x-perl", "sh": "text/x-sh", "rs": "text/x-rust",
	"diff": "text/x-diff", "patch": "text/x-diff", "tex": "text/x-tex", "roff": "text/troff",
	"html": "text/html", "htm": "text/html", "shtml": "text/html",
	"xhtml": "application/xhtml+xml", "xml": "application/xml", "xsl": "application/xslt+xml",
	"css": "text/css", "js": "text/javascript", "mjs": "text/javascript", "wasm": "application/wasm",
	"md": "text/markdown", "markdown": "text/markdown", "rst": "text/x-rst",
	"csv": "text/csv", "tsv": "text/tab-separated-values", "vcf": "text/vcard", "ics": "text/calendar",
	"json": "application/json", "jsonl": "application/x-ndjson", "ndjson": "application/x-ndjson",
	"yaml": "application/yaml", "yml": "application/yaml", "toml": "application/toml", "sql": "application/sql",
	"rss": "application/rss+xml", "atom": "application/atom+xml",
	"eml": "message/rfc822", "mht": "message/rfc822", "mbox": "application/mbox",

	"gif": "image/gif", "jpg": "image/jpeg", "jpeg": "image/jpeg", "jpe": "image/jpeg", "png": "image/png",
	"tif": "image/tiff", "tiff": "image/tiff", "bmp": "image/bmp", "ico": "image/vnd.microsoft.icon",
	"webp": "image/webp", "avif": "image/avif", "svg": "image/svg+xml", "djvu": "image/vnd.djvu", "djv": "image/vnd.djvu",
	"xbm": "image/x-xbitmap", "xpm": "image/x-xpixmap", "pbm": "image/x-portable-bitmap",
	"pgm": "image/x-portable-graymap", "ppm": "image/x-portable-pixmap", "pcx": "image/vnd.zbrush.pcx",

	"wav": "audio/vnd.wave", "au": "audio/basic", "snd": "audio/basic", "aif": "audio/aiff", "aiff": "audio/aiff",
	"mp3": "audio/mpeg", "m4a": "audio/mp4", "ogg": "audio/ogg", "oga": "audio/ogg", "opus": "audio/ogg",
	"flac": "audio/flac", "mid": "audio/midi", "midi": "audio/midi", "mod": "audio/x-mod",
	"mpg": "video/mpeg", "mpeg": "video/mpeg", "mp4": "video/mp4", "m4v": "video/mp4", "mov": "video/quicktime",
	"qt": "video/quicktime", "avi": "video/vnd.avi", "ogv": "video/ogg", "webm": "video/webm", "mkv": "video/matroska",
	"woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",

	"pdf": "application/pdf", "ps": "application/postscript", "eps": "application/postscript",
	"ai": "application/postscript", "rtf": "application/rtf", "dvi": "application/x-dvi", "epub": "application/epub+zip",
	"doc": "application/msword", "xls": "application/vnd.ms-excel", "ppt": "application/vnd.ms-powerpoint",
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"odt":  "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",

	"gz": "application/gzip", "tgz": "application/gzip", "z": "application/x-compress", "taz": "application/x-compress",
	"bz2": "application/x-bzip2", "xz": "application/x-xz", "zst": "application/zstd", "lzma": "application/x-lzma",
	"tar": "application/x-tar", "cpio": "application/x-cpio", "shar": "application/x-shar", "zip": "application/zip",
	"7z": "application/x-7z-compressed", "rar": "application/vnd.rar", "arj": "application/x-arj", "lzh": "application/x-lzh-compressed",
	"lha": "application/x-lzh-compressed", "zoo": "application/x-zoo", "arc": "application/x-freearc",
	"sit": "application/x-stuffit", "hqx": "application/mac-binhex40", "uu": "text/x-uuencode", "uue": "text/x-uuencode",
	"rpm": "application/x-rpm", "deb": "application/vnd.debian.binary-package", "iso": "application/x-iso9660-image",
	"img": "application/octet-stream", "bin": "application/octet-stream", "exe": "application/vnd.microsoft.portable-executable",
	"dll": "application/vnd.microsoft.portable-executable", "jar": "application/java-archive", "class": "application/java-vm",
	"warc": "application/warc", "swf": "application/vnd.adobe.flash.movie", "torrent": "application/x-bittorrent",
	"src": "application/x-wais-source", "hlp": "application/winhlp", "sig": "application/pgp-signature",
}
