"""What can be wrong with the files people read and write, each as one sentence with what to do next."""

from flyball.ports import Refusal


class DocumentError(Refusal):
    """A sentence that says what happened and what to do next."""


class LoopFolderUnwritable(DocumentError):
    """The files of `.loop/` could not be rendered."""


class WorkFolderUnusable(DocumentError):
    """A part of `.work/` cannot be read or written, or would lead elsewhere."""


class EvaluationInputInvalid(DocumentError):
    """A validation or a situation that was given to be evaluated cannot be read."""
