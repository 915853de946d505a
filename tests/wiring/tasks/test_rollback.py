"""Going back to a checkpoint."""

from tests.support.builders import Story

from flyball.core.model.effects import Save
from flyball.core.model.events import Begun, Ended, Moved
from flyball.core.model.outcomes import Saved
from flyball.core.model.task import Commit, EffectId
from flyball.projections.history.task_history import TaskHistory
from flyball.wiring.tasks.rollback import stage_after


def test_the_stage_after_a_checkpoint_is_the_one_its_own_lane_moved_to():
    story = Story().start().switch_to("2.1").switch_to("main").save("RED", name="accept/1", accepted=True)
    kept = Save(EffectId("accept/2"), "part", "part", Commit("base0000"), accepted=True, lane="2.1")
    story.add(Begun(kept)).add(Ended(kept.id, Saved(Commit("c21"), "tree-21", "part", accepted=True)))
    story.add(Moved("REVIEW", "RED", "both gates", lane="2.1"))
    target = TaskHistory(story.events).checkpoints[1]
    assert stage_after(story.events, target) == "RED", "the task has not moved yet"
    assert stage_after(story.add(Moved("GREEN", "RED", "both gates")).events, target) == "GREEN"
