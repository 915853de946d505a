"""Tasks of a repository: opened, looked at, spoken to, gone back on, tidied up."""
