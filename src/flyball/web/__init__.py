"""The page of `flyball serve`: every task of this machine in a browser, from the journal alone."""
