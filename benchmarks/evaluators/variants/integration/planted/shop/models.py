from flask_sqlalchemy import SQLAlchemy

db = SQLAlchemy()


class Customer(db.Model):
    __tablename__ = "customers"

    id = db.Column(db.BigInteger, primary_key=True)
    email = db.Column(db.Text, nullable=False, unique=True)
    phone = db.Column(db.Text)


class Payment(db.Model):
    __tablename__ = "payments"

    id = db.Column(db.BigInteger, primary_key=True)
    customer_id = db.Column(db.ForeignKey("customers.id"))
    phone = db.Column(db.Text)


class Coupon(db.Model):
    __tablename__ = "coupons"

    code = db.Column(db.Text, primary_key=True)
