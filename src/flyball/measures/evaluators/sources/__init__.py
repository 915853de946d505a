"""Looks at sources as such: linters, rules on syntax trees, types, duplication, cycles."""
