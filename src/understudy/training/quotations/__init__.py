"""The trainer of the `quotations` model, from novels whose quotations have their speakers and addressees (PDNC)."""
