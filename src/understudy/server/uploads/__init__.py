"""Uploaded stories, from an HTTP form to a story file that is served.

storage         files on disk: the multipart form as it comes, story files, the disk quota, files that could not be read
reading_jobs    background jobs, each reading one upload in a `reader_process` under resource limits, and what the
                processes of one database tell each other of theirs
fixes           corrections of the cast, each an edit of cast.toml; `quotations` has those of speakers
store           database tables
service         `UploadService`, all of the above together; `routes` are its HTTP operations
"""
