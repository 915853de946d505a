CREATE TABLE episodes (
  id SERIAL PRIMARY KEY,
  show_id INTEGER NOT NULL REFERENCES shows (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  transcript TEXT
);

CREATE INDEX episodes_show ON episodes (show_id);
