"""What every format is read with: an opened source, its events, names and directions, archives and JSON in bounds."""
