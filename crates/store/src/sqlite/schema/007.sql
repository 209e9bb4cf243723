-- The agent's own id of the session that a chat goes on with: no two chats go on with one.
ALTER TABLE chats ADD COLUMN session TEXT;
UPDATE chats SET session = (
    SELECT json_extract(CAST(head AS TEXT), '$.handle.leaf') FROM heads
    WHERE heads.chat = chats.chat AND json_valid(CAST(head AS TEXT))
) WHERE life <> 3;
CREATE INDEX chats_session ON chats (session) WHERE session IS NOT NULL;
