"""The character card file format, versions 1 to 3: JSON documents, PNG pictures that carry one, and CHARX archives."""
