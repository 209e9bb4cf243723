-- Where an agent can be taken back to: its own id of the end of a turn, the place of the last item there,
-- and how many messages its session held. left_behind: the chat went back to an earlier place since.
ALTER TABLE turns ADD COLUMN mark TEXT;
ALTER TABLE turns ADD COLUMN ends INTEGER;
ALTER TABLE turns ADD COLUMN holds INTEGER;
ALTER TABLE turns ADD COLUMN left_behind INTEGER NOT NULL DEFAULT 0;
