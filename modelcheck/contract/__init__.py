"""What an engine is asked and what it answers: tasks, verdicts, findings, expectations."""
