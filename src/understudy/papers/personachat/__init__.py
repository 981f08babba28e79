"""PersonaChat: profiles told from dialogues, KV and profile memory, judged chats, and the paper's tables."""
