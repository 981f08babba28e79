"""The review queue: people decide about lines near a bound. For authors: it may tell of anything in a story."""
