"""One file for each agent's program: how it is asked, and what its output means."""
