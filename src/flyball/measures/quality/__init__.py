"""Code, documents and QA's criteria, measured."""
