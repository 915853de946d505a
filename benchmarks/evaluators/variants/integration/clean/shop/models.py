from flask_sqlalchemy import SQLAlchemy

db = SQLAlchemy()


class Customer(db.Model):
    __tablename__ = "customers"

    id = db.Column(db.BigInteger, primary_key=True)
    email = db.Column(db.Text, nullable=False, unique=True)
    payments = db.relationship("Payment", back_populates="customer")


class Payment(db.Model):
    __tablename__ = "payments"

    id = db.Column(db.BigInteger, primary_key=True)
    customer_id = db.Column(db.ForeignKey("customers.id"), index=True)
    cents = db.Column("amount", db.Integer)
    customer = db.relationship("Customer", back_populates="payments")
