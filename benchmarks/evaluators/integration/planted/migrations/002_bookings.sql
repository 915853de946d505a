CREATE TABLE bookings (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  room_id bigint NOT NULL REFERENCES rooms (id),
  day date NOT NULL
);
ALTER TABLE rooms ADD COLUMN beds integer NOT NULL;
CREATE INDEX rooms_name ON rooms (name);
ALTER TABLE rooms DROP COLUMN name;
