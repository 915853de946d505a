"""A full or read-only disk stops the loop with a clear error and a readable journal; when there is room, `resume` goes on."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.faults.world import TASK, TDD_ITERATIONS, World, check_journal

pytestmark = pytest.mark.slow

Mount = Callable[..., None]


@pytest.fixture
def mount(world: World) -> Iterator[Mount]:
    """Mounts that are gone at the end of a test; only root can make them."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    mounted: list[Path] = []

    def mounting(*arguments: str, at: Path) -> None:
        at.mkdir(exist_ok=True)
        done = subprocess.run(["mount", *arguments, str(at)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
        mounted.append(at)

    yield mounting
    assert world.orphans() == []
    for place in reversed(mounted):
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def small_disk(mount: Mount, place: Path, *, keep: bool = False) -> None:
    """Put a disk of few megabytes at `place`; with what was there, if wanted."""
    aside = place.with_name(place.name + "-aside")
    if keep:
        place.rename(aside)
    mount("-t", "tmpfs", "-o", "size=6m", "none", at=place)
    if keep:
        shutil.copytree(aside, place, symlinks=True, dirs_exist_ok=True)


def free(ballast: Path) -> None:
    for file in (ballast, ballast.with_name(ballast.name + ".rest")):
        file.unlink(missing_ok=True)


@pytest.mark.req("C61", "C65")
def test_a_disk_that_fills_up_below_flyballs_home_stops_the_loop_and_loses_nothing(world: World, mount: Mount) -> None:
    small_disk(mount, world.home)
    ballast = world.home / "ballast"
    world.misbehave("fill", ballast)
    code, said = world.flyball(*world.run_arguments())
    assert code == 1, said
    assert "No space left" in said or "full" in said
    assert "Traceback" not in said
    before = world.events()
    assert len(before) > 5
    code, said = world.flyball("resume")
    assert code != 0
    assert "Traceback" not in said
    free(ballast)
    world.finish()
    assert world.events()[: len(before)] == before
    state = world.state()
    assert (state.decision, state.iterations) == ("DONE", TDD_ITERATIONS)
    check_journal(world.events())


@pytest.mark.req("C61", "C65")
def test_a_disk_that_fills_up_below_the_repository_stops_the_loop_and_loses_nothing(world: World, mount: Mount) -> None:
    small_disk(mount, world.repository, keep=True)
    belongings = world.belongings()
    ballast = world.repository / ".git" / "ballast"
    world.misbehave("fill", ballast)
    code, said = world.flyball(*world.run_arguments())
    assert code not in (0, 130), said
    assert "No space left" in said
    assert "Traceback" not in said
    before = world.events()
    free(ballast)
    world.finish()
    assert world.events()[: len(before)] == before
    assert (world.state().decision, world.state().iterations) == ("DONE", TDD_ITERATIONS)
    assert world.belongings() == belongings
    check_journal(world.events())


@pytest.mark.req("C65")
def test_a_read_only_loop_folder_stops_with_a_clear_error_and_a_readable_journal(world: World, mount: Mount) -> None:
    folder = world.repository / ".loop"
    mount("-t", "tmpfs", "-o", "ro,size=1m", "none", at=folder)
    code, said = world.flyball(*world.run_arguments())
    assert code in (1, 2), said
    assert f"{folder / TASK} could not be written (Read-only file system)" in said
    assert f"flyball resume {TASK}" in said
    assert "Traceback" not in said
    assert world.events()
    subprocess.run(["mount", "-o", "remount,rw", str(folder)], check=True)
    world.finish()
    assert world.state().decision == "DONE"
    check_journal(world.events())


@pytest.mark.req("C65")
def test_a_read_only_home_is_refused_before_anything_is_done(world: World, mount: Mount) -> None:
    mount("-t", "tmpfs", "-o", "ro,size=1m", "none", at=world.home)
    before = world.belongings()
    code, said = world.flyball(*world.run_arguments())
    assert code == 2, said
    assert str(world.home) in said
    assert "Traceback" not in said
    assert world.belongings() == before
    assert not (world.repository / ".loop").exists()
