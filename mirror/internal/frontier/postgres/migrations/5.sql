-- Version 5 finds the complete record of an object. A common object has one such
-- record and many revisit records, which have no checksum.

create index capture_original on capture (digest) where checksum is not null;
