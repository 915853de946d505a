"""The facts of the `tdd` workflow."""

from flyball.core.model.events import Fact
from flyball.core.workflows.tdd.prp_session import PrpSession


class SessionImported(Fact, frozen=True, omit_defaults=True, tag="session.imported"):
    """The task began where a session of another loop stood; what that one had completed is not verified here."""

    session: PrpSession
