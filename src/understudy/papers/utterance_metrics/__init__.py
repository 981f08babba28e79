"""The paper on persona-likeness of single utterances: its seven metrics, correlated with the marks of readers."""
