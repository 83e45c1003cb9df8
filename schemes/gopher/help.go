package gopher

// help documents gopher and gophers URLs.
const help = `gopher://HOST[:PORT]/TSELECTOR[%09WORDS[%09PLUS]]   RFC 4266, RFC 1738 3.4

T is one character: 0 text, 1 menu, 2 phone book, 7 index, 9 binary, g image, h
page. Without a path, the URL names the menu of the server. An index needs
words: fetch search URL WORDS. gophers is the same under TLS.
PLUS is a Gopher+ request: + the item, +VIEW a view of it, ! its attributes, $
the attributes of all items of a menu, ? the item behind its form, which is sent
only for a URL of the user.
Flags: --view TYPE, --lang LANGUAGE: select a view. --ask NAME=VALUE: answer a
field of the form; fetch prompts for the other fields. --strict: a text without
its last line, a dot, is truncated. --robots.`
