-- What is kept of a file beside its bytes, which lie in a folder of their own. named: a message that
-- names it; null if none does.
CREATE TABLE attachments (
    n INTEGER PRIMARY KEY,
    chat BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    at INTEGER NOT NULL,
    named BLOB,
    UNIQUE (chat, id)
) STRICT;

-- What goes with a message, in order.
CREATE TABLE message_attachments (
    message INTEGER NOT NULL,
    place INTEGER NOT NULL,
    attachment BLOB NOT NULL,
    PRIMARY KEY (message, place)
) STRICT, WITHOUT ROWID;
