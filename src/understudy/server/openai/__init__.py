"""Characters as the models of an OpenAI-compatible API."""
