-- What the agent of a chat told of the commands that it has for its users, as JSON. n: in the order of
-- telling.
CREATE TABLE commands (
    n INTEGER PRIMARY KEY,
    chat BLOB NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    cwd TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX commands_place ON commands (agent, cwd, n);
