CREATE TABLE bookings (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  room_id bigint NOT NULL REFERENCES rooms (id),
  day date NOT NULL
);
CREATE INDEX bookings_room_id ON bookings (room_id);
ALTER TABLE rooms ADD COLUMN beds integer;
