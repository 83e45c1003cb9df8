-- Version 6 replaces three indexes of pending URLs by one.

create index url_queue on url (host, wait nulls first, prio, id) where state = 0;
drop index url_ready, url_pending, url_waiting;
