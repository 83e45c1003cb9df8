package z3950

// help is the help text about z39.50r and z39.50s URLs.
const help = `z39.50r://HOST[:PORT]/DATABASE?DOCID[;esn=SET][;rs=SYNTAX]   RFC 2056
z39.50s://HOST[:PORT]/DATABASE[?WORDS[;n=N]][;esn=SET][;rs=SYNTAX]

z39.50r names one record. z39.50s names a search: fetch search z39.50s://HOST/
DATABASE WORDS lists the records that contain all words, with their URLs, and
fetch info describes the server. "title:WORD" searches titles; author, subject,
isbn, issn and any work too. SYNTAX is usmarc, unimarc, xml, html, sutrs or
grs-1, or several of them joined by "+", the preferred one first. Without it, a
MARC record is shown as text. --user NAME:PASSWORD logs in.`
