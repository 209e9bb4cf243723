-- The beginning of the first message of a person, by which a chat without a title is known for good,
-- and that message's uuid. What is there already is cut more plainly than a new one.
ALTER TABLE chats ADD COLUMN first_prompt TEXT;
ALTER TABLE chats ADD COLUMN first_message BLOB;
UPDATE chats SET first_message = (
    SELECT id FROM messages WHERE messages.chat = chats.chat
        AND author IN ('person', 'channel') ORDER BY n LIMIT 1
) WHERE life <> 3;
UPDATE chats SET first_prompt = (
    SELECT CASE WHEN length(said) > 200 THEN substr(said, 1, 199) || '…' ELSE said END FROM (
        SELECT trim(replace(replace(CAST(text AS TEXT), char(10), ' '), char(9), ' ')) AS said
        FROM message_texts JOIN messages ON message = messages.n
        WHERE messages.chat = chats.chat AND messages.id = chats.first_message
    ) WHERE said <> ''
) WHERE first_message IS NOT NULL;
