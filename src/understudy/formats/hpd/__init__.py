"""Harry Potter Dialogue: sessions in JSON, and the relations of its characters in XLSX."""
