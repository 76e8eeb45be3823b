"""What users randomise themselves, told one by one or shuffled."""
