"""Looks at what people see: pages in a real browser, where their elements stand, and their spelling."""
