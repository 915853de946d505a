CREATE TABLE payments (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  customer_id bigint REFERENCES customers (id),
  phone text
);
ALTER TABLE customers ADD COLUMN country char(2) NOT NULL;
ALTER TABLE customers ALTER COLUMN email TYPE varchar(80);
ALTER TABLE customers RENAME COLUMN email TO mail;
