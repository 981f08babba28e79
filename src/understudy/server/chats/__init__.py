"""Chats with characters: a tree of messages at moments of a story, stored in the database and streamed as events."""
