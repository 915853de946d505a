"""What can be wrong with the files people read and write, each as one sentence with what to do next."""


class DocumentError(Exception):
    """A sentence that says what happened and what to do next."""


class SourceUnreadable(DocumentError):
    """The document a task should start from is missing, or is no text."""


class TrackUnreadable(DocumentError):
    """The folder of a track is missing, or holds what is none."""


class ConstitutionMissing(DocumentError):
    """A backlog is worked by rules a person agreed to, and there are none."""


class ConstitutionThere(DocumentError):
    """The rules are written already, and are the user's."""


class LoopFolderForeign(DocumentError):
    """What lies where flyball renders its files was not put there by flyball."""


class LoopFolderUnwritable(DocumentError):
    """The files of `.loop/` could not be rendered."""


class ExportedFilesForeign(DocumentError):
    """A file that is to be exported exists and was written or changed by somebody else."""


class ExportedFilesUnwritable(DocumentError):
    """The exported files could not be written."""


class WorkFolderMissing(DocumentError):
    """There is no `.work/agent/issues/`, and so no backlog to look at."""


class WorkFolderUnusable(DocumentError):
    """A part of `.work/` cannot be read or written, or would lead elsewhere."""


class IssueNotInFile(DocumentError):
    """An issue is to be changed in a file that does not hold it, or not as it is now."""


class EvaluationInputInvalid(DocumentError):
    """A validation or a situation that was given to be evaluated cannot be read."""


class NotesRefused(DocumentError):
    """An agent's note could not be taken: there is no turn for it, or no room."""
