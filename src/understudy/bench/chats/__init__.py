"""Whole chats: of people with bots, which people have scored, and of agents with each other."""
