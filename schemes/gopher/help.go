package gopher

// help documents gopher and gophers URLs.
const help = `gopher://HOST[:PORT]/TSELECTOR[%09WORDS[%09PLUS]]   RFC 4266, RFC 1738 3.4

T is one character: 0 text, 1 menu, 2 phone book, 7 index, 9 binary, g image, h
page. Without a path, the URL names the root menu. An index requires search
words: fetch search URL WORDS. The scheme gophers is gopher over TLS.
PLUS is a Gopher+ command: + fetches the item, +VIEW a view of the item, ! its
attributes, $ the attributes of all items in a menu, and ? the item after its
form is filled in. Forms are sent only for URLs that the user entered.
Flags: --view TYPE and --lang LANGUAGE select a view. --ask NAME=VALUE answers a
form field; fetch prompts for the other fields. --strict reports a text without
a final "." line as truncated. --robots applies robots.txt.`
