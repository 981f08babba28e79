"""Real chat programs before a real server; each test skips where its program is not installed."""
