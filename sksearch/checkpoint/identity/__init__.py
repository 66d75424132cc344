"""What an experiment is made of: code, values and settings as texts that can be compared."""
