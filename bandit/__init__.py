"""What it is for: private multi-armed bandits on mechanisms that are verified first."""
