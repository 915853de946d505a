"""The values: tasks, effects, outcomes, facts, measurements, and what is known of a task."""
