"""What a language model is given: a situation and the conversation so far as chat messages."""
