"""Chats: what was said to whom, at which moment of which story, kept as a tree, and told word for word."""
