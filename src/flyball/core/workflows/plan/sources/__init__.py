"""Plans that people keep in files of other tools: read into items, and marked as work is accepted, by the smallest change."""
