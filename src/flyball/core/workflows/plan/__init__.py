"""Plans: subtasks with files, acceptance and dependencies, and the files of other tools they are read from."""
