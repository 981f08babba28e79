"""Training the reranker: what it is asked (`novels`, `chats`), its loss, and the trainer."""
