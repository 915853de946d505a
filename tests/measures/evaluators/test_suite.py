"""flyball's own evaluators pass the suite that ships for those of others."""

import os

import pytest
from tests.measures.evaluators.planted import CACHE

from flyball.measures.evaluators import business_logic, code_quality, integration, ui_ux
from flyball.testing.evaluator_suite import EvaluatorSuite

pytestmark = [pytest.mark.slow, pytest.mark.req("D25")]


class OwnEvaluatorSuite(EvaluatorSuite):
    cache = str(CACHE)

    @pytest.fixture
    def environment(self):
        return dict(os.environ)


class TestCodeQuality(OwnEvaluatorSuite):
    @pytest.fixture
    def evaluator(self):
        return code_quality.EVALUATOR

    @pytest.fixture
    def planted_files(self):
        return {"a.py": "import re\n\n\ndef f() -> None:\n    # TODO: more\n    print(1)\n"}


class TestIntegration(OwnEvaluatorSuite):
    @pytest.fixture
    def evaluator(self):
        return integration.EVALUATOR

    @pytest.fixture
    def planted_files(self):
        return {"a.py": 'import os\n\nURL = os.environ["SOME_URL"]\n', ".env.example": "OTHER=\n"}


class TestBusinessLogic(OwnEvaluatorSuite):
    @pytest.fixture
    def evaluator(self):
        return business_logic.EVALUATOR


class TestUiUx(OwnEvaluatorSuite):
    @pytest.fixture
    def evaluator(self):
        return ui_ux.EVALUATOR

    @pytest.fixture
    def planted_files(self):
        return {"a.css": ".a { color: #123456; }\n"}
