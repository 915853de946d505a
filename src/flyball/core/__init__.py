"""The pure core: values, facts, effects, policies and workflows; it does no I/O and knows no clock."""
