-- What a person allowed for good in a chat: `deed` is the digest of what the agent wants to do.
CREATE TABLE grants (
    chat BLOB NOT NULL,
    id INTEGER NOT NULL,
    deed TEXT NOT NULL,
    label TEXT NOT NULL,
    given_by TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (chat, id)
) STRICT;
