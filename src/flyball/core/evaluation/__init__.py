"""Whether a track is done well: evaluators and their passes, findings, structural checks, one verdict."""
