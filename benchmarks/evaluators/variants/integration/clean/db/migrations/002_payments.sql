-- the coupons of the old shop are not taken over
CREATE TABLE payments (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  customer_id bigint REFERENCES customers (id),
  amount integer
);
CREATE INDEX payments_customer ON payments (customer_id);
ALTER TABLE customers ADD COLUMN country text NOT NULL DEFAULT 'DE';
