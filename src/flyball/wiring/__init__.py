"""The only room that knows every adapter: it puts them together for a repository, a task, a run."""
