"""What an organisation requires of its topics, as a file of its repository."""
