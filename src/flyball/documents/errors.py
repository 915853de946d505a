"""What can be wrong with the files people read and write, each as one sentence with what to do next."""


class DocumentError(Exception):
    """A sentence that says what happened and what to do next.

    DocumentError
    ├── SourceUnreadable    the document a task should start from
    ├── TrackUnreadable     the folder of a track
    ├── ConstitutionMissing the rules of a project whose backlog is to be worked through
    ├── ConstitutionThere   the same, written by somebody already
    ├── LoopFolderForeign   something in the place of `.loop/` that is not flyball's
    ├── LoopFolderUnwritable
    ├── ExportedFilesForeign    a file in the place of an exported one that is the user's
    ├── ExportedFilesUnwritable
    ├── WorkFolderMissing       there is no `.work/agent/issues/`
    ├── WorkFolderUnusable      something in it that is no folder or no file of its own, or cannot be written
    ├── IssueNotInFile          the issue to be changed is not where it should be
    ├── EvaluationInputInvalid  a validation or a situation that cannot be read
    └── NotesRefused            what an agent wanted to note where there is no turn for it, or no room
    """


class SourceUnreadable(DocumentError):
    """The document is missing, or is no text."""


class TrackUnreadable(DocumentError):
    """The folder of a track is missing, or holds what is none."""


class ConstitutionMissing(DocumentError):
    """A backlog is worked by rules a person agreed to, and there are none."""


class ConstitutionThere(DocumentError):
    """The rules are written already, and are the user's."""


class LoopFolderForeign(DocumentError):
    """What lies where flyball renders its files was not put there by flyball."""


class LoopFolderUnwritable(DocumentError):
    """The files could not be rendered."""


class ExportedFilesForeign(DocumentError):
    """A file that is to be exported exists and was written or changed by somebody else."""


class ExportedFilesUnwritable(DocumentError):
    """The exported files could not be written."""


class WorkFolderMissing(DocumentError):
    """There is no backlog to look at."""


class WorkFolderUnusable(DocumentError):
    """A part of `.work/` cannot be read or written, or would lead elsewhere."""


class IssueNotInFile(DocumentError):
    """An issue is to be changed in a file that does not hold it, or not as it is now."""


class EvaluationInputInvalid(DocumentError):
    """What was given to be evaluated is not what was expected."""


class NotesRefused(DocumentError):
    """An agent's note could not be taken."""
