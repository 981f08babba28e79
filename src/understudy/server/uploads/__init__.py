"""Uploaded stories, from an HTTP form to a story file that is served.

receiving       the multipart form, written to disk as it comes
reading_jobs    background jobs, each reading one upload in a `reader_process` under resource limits
fixes           corrections of the cast, each an edit of cast.toml
store           database tables; `storage` has the story files beside the database and the disk quota
service         `UploadService`, all of the above together; `routes` are its HTTP operations
"""
