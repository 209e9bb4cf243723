-- The row that the answer to an operation shows, as its write left the chat; null where it shows none.
ALTER TABLE operations ADD COLUMN shown TEXT;
