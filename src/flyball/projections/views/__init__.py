"""Lines, status, report and the words all screens share."""
