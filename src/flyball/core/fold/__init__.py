"""What each fact adds to what is known; nothing here chooses."""
