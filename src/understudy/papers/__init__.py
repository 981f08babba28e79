"""The four papers, a package each: their data, tables and published figures, on the machinery of all benches."""
