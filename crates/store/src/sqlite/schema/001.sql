-- What the store says of itself.
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The journal: written once, never changed; removed only with a deleted chat.
CREATE TABLE facts (
    n INTEGER PRIMARY KEY,
    chat BLOB NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (chat, seq)
) STRICT;

-- Every kind of fact that was ever stored, so that a build knows at once whether there is one
-- that it cannot read.
CREATE TABLE kinds (
    kind TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TRIGGER facts_kinds AFTER INSERT ON facts BEGIN
    INSERT OR IGNORE INTO kinds (kind) VALUES (new.kind);
END;

-- What lists show of a chat. life: 1 open, 2 closed, 3 deleted. reap: 1 rows wait to be removed.
CREATE TABLE chats (
    n INTEGER PRIMARY KEY,
    chat BLOB NOT NULL UNIQUE,
    seq INTEGER NOT NULL,
    life INTEGER NOT NULL,
    slot TEXT,
    title TEXT,
    project TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    touched INTEGER NOT NULL,
    last_prompt TEXT,
    last_message BLOB,
    owes INTEGER NOT NULL,
    running INTEGER NOT NULL,
    to_resume INTEGER NOT NULL,
    to_check INTEGER NOT NULL,
    queued INTEGER NOT NULL,
    held TEXT,
    reap INTEGER NOT NULL,
    version INTEGER NOT NULL,
    summary TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX chats_slot ON chats (slot) WHERE slot IS NOT NULL AND life = 1;
CREATE INDEX chats_life ON chats (life, touched);
CREATE INDEX chats_touched ON chats (touched);
CREATE INDEX chats_owing ON chats (n) WHERE owes = 1;
CREATE INDEX chats_reap ON chats (n) WHERE reap = 1;
CREATE INDEX chats_counts ON chats (life, running, to_resume, to_check, queued);

CREATE TABLE heads (
    chat BLOB PRIMARY KEY,
    version INTEGER NOT NULL,
    head TEXT NOT NULL
) STRICT;

CREATE TABLE progress (
    chat BLOB PRIMARY KEY,
    attempt BLOB NOT NULL,
    position INTEGER NOT NULL,
    codec BLOB NOT NULL
) STRICT;

-- place: where it waits in the queue, rising; null if it does not wait.
CREATE TABLE messages (
    n INTEGER PRIMARY KEY,
    chat BLOB NOT NULL,
    id BLOB NOT NULL,
    author TEXT NOT NULL,
    state TEXT NOT NULL,
    detail TEXT,
    bytes INTEGER NOT NULL,
    digest TEXT NOT NULL,
    item_origin INTEGER,
    item_n INTEGER,
    turn INTEGER,
    attempt BLOB,
    accepted_at INTEGER NOT NULL,
    place INTEGER,
    UNIQUE (chat, id)
) STRICT;
CREATE INDEX messages_queue ON messages (chat, place) WHERE place IS NOT NULL;

CREATE TABLE message_texts (
    message INTEGER PRIMARY KEY,
    text BLOB NOT NULL
) STRICT;

CREATE TABLE turns (
    n INTEGER PRIMARY KEY,
    chat BLOB NOT NULL,
    id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    message BLOB,
    started_at INTEGER NOT NULL,
    how TEXT,
    evidence TEXT,
    ended_at INTEGER,
    usage TEXT,
    UNIQUE (chat, id)
) STRICT;
CREATE INDEX turns_running ON turns (chat) WHERE how IS NULL;

-- running: whether its body is a call that runs.
CREATE TABLE items (
    n INTEGER PRIMARY KEY,
    chat BLOB NOT NULL,
    origin INTEGER NOT NULL,
    id INTEGER NOT NULL,
    place INTEGER NOT NULL,
    turn INTEGER,
    kind TEXT NOT NULL,
    role TEXT NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    running INTEGER NOT NULL,
    closed INTEGER NOT NULL,
    version INTEGER NOT NULL,
    text_bytes INTEGER NOT NULL,
    input_bytes INTEGER NOT NULL,
    output_bytes INTEGER NOT NULL,
    UNIQUE (chat, origin, id),
    UNIQUE (chat, place)
) STRICT;
CREATE INDEX items_running ON items (chat, origin) WHERE running = 1;

-- field: 1 text, 2 input, 3 output. Pieces of one text lie end to end from byte 0.
CREATE TABLE item_pieces (
    n INTEGER PRIMARY KEY,
    item INTEGER NOT NULL,
    field INTEGER NOT NULL,
    at INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (item, field, at)
) STRICT;

CREATE TABLE prompts (
    n INTEGER PRIMARY KEY,
    chat BLOB NOT NULL,
    origin INTEGER NOT NULL,
    id INTEGER NOT NULL,
    item_origin INTEGER NOT NULL,
    item_n INTEGER NOT NULL,
    asked TEXT NOT NULL,
    at INTEGER NOT NULL,
    state TEXT NOT NULL,
    answer TEXT,
    answered_by TEXT,
    device TEXT,
    answered_at INTEGER,
    answer_life TEXT,
    UNIQUE (chat, origin, id)
) STRICT;
CREATE INDEX prompts_open ON prompts (chat) WHERE state = 'open';

CREATE TABLE tasks (
    n INTEGER PRIMARY KEY,
    chat BLOB NOT NULL,
    origin INTEGER NOT NULL,
    id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    foreground INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    how TEXT,
    ended_at INTEGER,
    UNIQUE (chat, origin, id)
) STRICT;
CREATE INDEX tasks_live ON tasks (chat) WHERE how IS NULL;

CREATE TABLE offers (
    chat BLOB PRIMARY KEY,
    cause TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    snapshot TEXT NOT NULL,
    shown INTEGER NOT NULL,
    continuation BLOB NOT NULL,
    resuming INTEGER NOT NULL,
    needs_choice INTEGER NOT NULL
) STRICT;

CREATE TABLE failures (
    chat BLOB PRIMARY KEY,
    code TEXT NOT NULL,
    text TEXT NOT NULL,
    actions TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE TABLE operations (
    principal TEXT NOT NULL,
    key TEXT NOT NULL,
    chat BLOB NOT NULL,
    at INTEGER NOT NULL,
    body BLOB NOT NULL,
    reply TEXT NOT NULL,
    PRIMARY KEY (principal, key)
) STRICT;
CREATE INDEX operations_at ON operations (at);

CREATE TABLE changes (
    n INTEGER PRIMARY KEY,
    chat BLOB,
    what TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE TABLE drafts (
    chat BLOB NOT NULL,
    principal TEXT NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (chat, principal)
) STRICT;
