"""Fakes and conformance suites, for flyball's own tests and for authors of adapters."""
