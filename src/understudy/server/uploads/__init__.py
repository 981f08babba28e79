"""Uploaded stories, from an HTTP form to a story file that is served.

storage         files on disk: the multipart form as it comes, story files, the disk quota
failed          the files of uploads that could not be read, for another try
reading_jobs    background jobs, each reading one upload in a `reader_process` under resource limits
fixes           corrections of the cast, each an edit of cast.toml
store           database tables
service         `UploadService`, all of the above together; `routes` are its HTTP operations
"""
