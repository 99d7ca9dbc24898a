"""A plug-in of pytest with what numba-cuda's tests have from a conftest.py that its wheel leaves out."""
import pytest


@pytest.fixture
def initialize_from_pytest_config(request):
    request.instance._dump_failed_filechecks = False
