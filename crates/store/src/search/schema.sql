-- The index of all transcripts. Everything in it is read from the journal and can be made anew.
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The text of one item, cut to a bound. id rises with the order in which items were first seen.
CREATE TABLE docs (
    id INTEGER PRIMARY KEY,
    chat BLOB NOT NULL,
    origin INTEGER NOT NULL,
    n INTEGER NOT NULL,
    place INTEGER NOT NULL,
    kind TEXT NOT NULL,
    role TEXT NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (chat, origin, n)
) STRICT;

-- Trigrams find any part of a word, of a path or of an identifier, in every script.
CREATE VIRTUAL TABLE texts USING fts5 (
    text, content = 'docs', content_rowid = 'id', tokenize = 'trigram remove_diacritics 1'
);
CREATE TRIGGER docs_added AFTER INSERT ON docs BEGIN
    INSERT INTO texts (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER docs_removed AFTER DELETE ON docs BEGIN
    INSERT INTO texts (texts, rowid, text) VALUES ('delete', old.id, old.text);
END;
CREATE TRIGGER docs_changed AFTER UPDATE OF text ON docs BEGIN
    INSERT INTO texts (texts, rowid, text) VALUES ('delete', old.id, old.text);
    INSERT INTO texts (rowid, text) VALUES (new.id, new.text);
END;
