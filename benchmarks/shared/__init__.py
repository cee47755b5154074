"""What several benchmarks, and tests, have in common; nothing here measures by itself."""
