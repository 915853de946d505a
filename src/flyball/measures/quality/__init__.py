"""Measures code, documents and QA's criteria."""
