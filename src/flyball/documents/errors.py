"""What can be wrong with the files people read and write, each as one sentence with what to do next."""


class DocumentError(Exception):
    """A sentence that says what happened and what to do next.

    DocumentError
    ├── SourceUnreadable    the document a task should start from
    ├── LoopFolderForeign   something in the place of `.loop/` that is not flyball's
    ├── LoopFolderUnwritable
    ├── ExportedFilesForeign    a file in the place of an exported one that is the user's
    └── ExportedFilesUnwritable
    """


class SourceUnreadable(DocumentError):
    """The document is missing, or is no text."""


class LoopFolderForeign(DocumentError):
    """What lies where flyball renders its files was not put there by flyball."""


class LoopFolderUnwritable(DocumentError):
    """The files could not be rendered."""


class ExportedFilesForeign(DocumentError):
    """A file that is to be exported exists and was written or changed by somebody else."""


class ExportedFilesUnwritable(DocumentError):
    """The exported files could not be written."""
